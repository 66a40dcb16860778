import type { Knex } from 'knex'

/**
 * Withdrawals that wait for their creator's confirmation, and the bank accounts that creators have named
 * (docs/decisions/0057).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table withdrawals
      -- Why its creator must confirm it. Null: need not.
      add confirmation_reason text constraint withdrawals_confirmation_reason
        check (confirmation_reason in ('new_account', 'recent_change', 'new_client')),
      add confirmed_at timestamptz(3),
      -- Keyed hash of the bank code and the account number. Null: requested before it was recorded.
      add account_hash bytea constraint withdrawals_account_hash check (length(account_hash) = 32),
      -- The client network and the device that requested it. Null: requested before they were recorded.
      add client_network text,
      add device_hash bytea constraint withdrawals_device check (length(device_hash) = 32),
      drop constraint withdrawals_send_state_check,
      -- confirmation_hold: waits for its creator's confirmation. The others: 0011-withdrawals.ts.
      add constraint withdrawals_send_state_check check (send_state in
        ('identity_hold', 'confirmation_hold', 'not_sent', 'sending', 'unknown', 'resend', 'sent', 'manual_review', 'refused')),
      drop constraint withdrawals_check5,
      add constraint withdrawals_held check (send_state not in ('identity_hold', 'confirmation_hold') or due_at is null),
      drop constraint withdrawals_check7,
      add constraint withdrawals_sent check (
        case when send_state in ('identity_hold', 'confirmation_hold', 'not_sent') then sends = 0
             when send_state = 'refused' then true else sends > 0 end),
      -- Nothing leaves that needs a confirmation and has none.
      add constraint withdrawals_confirmed check (
        send_state in ('identity_hold', 'confirmation_hold', 'refused')
        or confirmation_reason is null or confirmed_at is not null),
      add constraint withdrawals_confirmation check (confirmed_at is null or confirmation_reason is not null);

    create table payees (
      id uuid primary key default gen_random_uuid(),
      user_id uuid not null references users,
      account_hash bytea not null check (length(account_hash) = 32),
      bank_code text not null check (bank_code ~ '^[0-9]{3,6}$'),
      last_four text not null check (last_four ~ '^[0-9]{4}$'),
      account_name text not null check (length(account_name) between 2 and 100),
      added_at timestamptz(3) not null default clock_timestamp(),
      last_used_at timestamptz(3) not null default clock_timestamp(),
      -- When its creator last confirmed a withdrawal to it.
      confirmed_at timestamptz(3),
      -- What was confirmed or sent before does not count. Listed again when used after it.
      removed_at timestamptz(3),
      unique (user_id, account_hash));

    -- Codes mailed to confirm a withdrawal. Only its newest one counts.
    create table withdrawal_codes (
      id bigint generated always as identity primary key,
      withdrawal_id uuid not null references withdrawals,
      user_id uuid not null references users,
      code_hmac bytea not null check (length(code_hmac) = 32),
      created_at timestamptz(3) not null default clock_timestamp(),
      expires_at timestamptz(3) not null,
      -- Wrong codes entered while it was the newest. Five void it.
      failures int not null default 0 check (failures between 0 and 5));
    create index withdrawal_codes_user on withdrawal_codes (user_id, created_at);
    create index withdrawal_codes_withdrawal on withdrawal_codes (withdrawal_id, id);
  `)
  await knex.raw(sendSteps([...stepsBefore, ...newSteps]))
  await knex.raw(fixed(`in ('identity_hold', 'confirmation_hold')`))
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop table withdrawal_codes, payees;
    -- What waits for its creator waits on, for an operator.
    alter table withdrawals disable trigger withdrawals_send_steps;
    update withdrawals set send_state = 'identity_hold' where send_state = 'confirmation_hold';
    alter table withdrawals enable trigger withdrawals_send_steps;
    alter table withdrawals
      drop constraint withdrawals_confirmed,
      drop constraint withdrawals_confirmation,
      drop constraint withdrawals_sent,
      add constraint withdrawals_check7 check (
        case when send_state in ('identity_hold', 'not_sent') then sends = 0
             when send_state = 'refused' then true else sends > 0 end),
      drop constraint withdrawals_held,
      add constraint withdrawals_check5 check (send_state <> 'identity_hold' or due_at is null),
      drop constraint withdrawals_send_state_check,
      add constraint withdrawals_send_state_check check (send_state in
        ('identity_hold', 'not_sent', 'sending', 'unknown', 'resend', 'sent', 'manual_review', 'refused')),
      drop confirmation_reason, drop confirmed_at, drop account_hash, drop client_network, drop device_hash;
  `)
  await knex.raw(sendSteps(stepsBefore))
  await knex.raw(fixed(`= 'identity_hold'`))
}

type Steps = readonly (readonly [from: string, to: string])[]

const stepsBefore: Steps = [
  ['identity_hold', 'not_sent'],
  ['identity_hold', 'refused'],
  ['not_sent', 'sending'],
  ['not_sent', 'refused'],
  ['sending', 'not_sent'],
  ['sending', 'unknown'],
  ['sending', 'resend'],
  ['sending', 'sent'],
  ['sending', 'manual_review'],
  ['sending', 'refused'],
  ['unknown', 'not_sent'],
  ['unknown', 'resend'],
  ['unknown', 'sent'],
  ['unknown', 'manual_review'],
  ['unknown', 'refused'],
  ['resend', 'sending'],
  ['resend', 'sent'],
  ['resend', 'manual_review'],
  ['resend', 'refused'],
  ['manual_review', 'resend'],
  ['manual_review', 'sent'],
  ['manual_review', 'refused'],
]
const newSteps: Steps = [
  ['identity_hold', 'confirmation_hold'],
  ['confirmation_hold', 'not_sent'],
  ['confirmation_hold', 'refused'],
]

function sendSteps(steps: Steps): string {
  return /* sql */ `
    create or replace function withdrawals_check_send_step() returns trigger language plpgsql as $$
    begin
      if (old.send_state, new.send_state) not in (
        ${steps.map(([from, to]) => `('${from}', '${to}')`).join(', ')})
      then raise exception 'the send state of a withdrawal does not move from % to %', old.send_state, new.send_state
        using errcode = '23514'; end if;
      return new;
    end $$`
}

/** `held`: the send states before a release, as the end of an SQL comparison. */
function fixed(held: string): string {
  return /* sql */ `
    create or replace function withdrawals_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.user_id, old.reference, old.currency, old.debit_micro, old.bank_code, old.account_number,
          old.account_name, old.hold_transfer, old.created_at)
        is distinct from (new.id, new.user_id, new.reference, new.currency, new.debit_micro, new.bank_code,
          new.account_number, new.account_name, new.hold_transfer, new.created_at)
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (old.rate_id, old.gross_kobo, old.fee_kobo, old.net_kobo, old.promised_kobo)
        is distinct from (new.rate_id, new.gross_kobo, new.fee_kobo, new.net_kobo, new.promised_kobo)
        -- Only its release prices a held withdrawal again, once, and never above the promise.
        and not (old.status = 'pending' and old.send_state ${held} and new.send_state = 'not_sent'
          and new.gross_kobo < old.gross_kobo and new.promised_kobo is not distinct from old.net_kobo)
      then raise exception 'a withdrawal keeps its price' using errcode = '23514'; end if;
      return new;
    end $$`
}
