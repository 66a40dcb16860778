import type { Knex } from 'knex'

/**
 * Naira tips are credited by what arrived, held withdrawals are priced again when they are released, and money in suspense can
 * be refunded through the provider (docs/decisions/0017, 0018, 0021, 0040).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table fiat_intents
      -- The caller gave the charge (amountNgn), so what exceeds the promise is the creator's too.
      add column charge_given boolean not null default false,
      -- settled_kobo is what counted of the payments: less than the charge when one was a little short, more when money
      -- in suspense was assigned.
      add constraint fiat_intents_settled check (settled_kobo > 0);
    do $$ begin
      execute (select format('alter table fiat_intents drop constraint %I', conname) from pg_constraint
        where conrelid = 'fiat_intents'::regclass
          and pg_get_constraintdef(oid) like '%settled_kobo >= charge_kobo%');
    end $$;
    -- A charge that is not the converted amount was given.
    update fiat_intents f set charge_given = true from rates r
      where r.id = f.rate_id and f.settled_kobo is null
        and f.charge_kobo <> round((case f.basis when 'net' then f.final_cents else f.amount_cents end) * r.value);
    update fiat_intents set settled_kobo = charge_kobo where settled_kobo > charge_kobo;

    alter table withdrawals
      -- What the bank account was promised, if a lower rate at the release left less. Null: nothing changed.
      add column promised_kobo bigint,
      add constraint withdrawals_promised check (promised_kobo > net_kobo);
    drop trigger withdrawals_fixed on withdrawals;
    create function withdrawals_check_fixed() returns trigger language plpgsql as $$
    begin
      if (old.id, old.user_id, old.reference, old.currency, old.debit_micro, old.bank_code, old.account_number,
          old.account_name, old.hold_transfer, old.created_at)
        is distinct from (new.id, new.user_id, new.reference, new.currency, new.debit_micro, new.bank_code,
          new.account_number, new.account_name, new.hold_transfer, new.created_at)
      then raise exception 'a withdrawal does not change' using errcode = '23514'; end if;
      if (old.rate_id, old.gross_kobo, old.fee_kobo, old.net_kobo, old.promised_kobo)
        is distinct from (new.rate_id, new.gross_kobo, new.fee_kobo, new.net_kobo, new.promised_kobo)
        -- Only its release prices a held withdrawal again, once, and never above the promise.
        and not (old.status = 'pending' and old.send_state = 'identity_hold' and new.send_state = 'not_sent'
          and new.gross_kobo < old.gross_kobo and new.promised_kobo is not distinct from old.net_kobo)
      then raise exception 'a withdrawal keeps its price' using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger withdrawals_fixed before update of id, user_id, reference, currency, rate_id, debit_micro, gross_kobo,
      fee_kobo, net_kobo, promised_kobo, bank_code, account_number, account_name, hold_transfer, created_at on withdrawals
      for each row execute function withdrawals_check_fixed();

    alter table suspense_items
      -- refunding: the provider is asked to return it to the payer, and nobody may assign it meanwhile.
      add column state text not null default 'waiting' check (state in ('waiting', 'refunding', 'resolved')),
      add column refund_by text,
      add column refund_note text,
      -- When the last request that may have reached the provider began.
      add column refund_sent_at timestamptz(3),
      -- The provider's refunds of this payment from before that.
      add column refunds_before text[] not null default '{}',
      -- What the provider said last about the refund.
      add column refund_answer text check (length(refund_answer) <= 200);
    update suspense_items set state = 'resolved' where resolved_at is not null;
    alter table suspense_items
      add constraint suspense_items_state check ((state = 'resolved') = (resolved_at is not null)),
      add constraint suspense_items_refund
        check (state <> 'refunding' or num_nulls(refund_by, refund_note, refund_sent_at) = 0);
    create function suspense_items_check_move() returns trigger language plpgsql as $$
    begin
      if (old.state, new.state) not in (
        ('waiting', 'refunding'), ('waiting', 'resolved'), ('refunding', 'waiting'), ('refunding', 'resolved'))
      then raise exception 'a suspense item does not move from % to %', old.state, new.state using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger suspense_items_moves before update of state on suspense_items
      for each row when (old.state <> new.state) execute function suspense_items_check_move();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop trigger suspense_items_moves on suspense_items;
    drop function suspense_items_check_move();
    alter table suspense_items drop column state, drop column refund_by, drop column refund_note,
      drop column refund_sent_at, drop column refunds_before, drop column refund_answer;
    drop trigger withdrawals_fixed on withdrawals;
    drop function withdrawals_check_fixed();
    alter table withdrawals drop column promised_kobo;
    create trigger withdrawals_fixed before update of id, user_id, reference, currency, rate_id, debit_micro, gross_kobo,
      fee_kobo, net_kobo, bank_code, account_number, account_name, hold_transfer, created_at on withdrawals
      for each statement execute function refuse_change();
    alter table fiat_intents drop column charge_given, drop constraint fiat_intents_settled,
      add constraint fiat_intents_settled_least check (settled_kobo >= charge_kobo) not valid`)
}
