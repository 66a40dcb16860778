import type { Knex } from 'knex'

/**
 * Refuses every step that the tables in `lifecycle.ts` do not list (docs/decisions/0051): of the send state of a withdrawal,
 * of a review, and of an SDK session. The other states have had their triggers from the beginning.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    create function withdrawals_check_send_step() returns trigger language plpgsql as $$
    begin
      if (old.send_state, new.send_state) not in (
        ('identity_hold', 'not_sent'), ('identity_hold', 'refused'),
        ('not_sent', 'sending'), ('not_sent', 'refused'),
        ('sending', 'not_sent'), ('sending', 'unknown'), ('sending', 'resend'), ('sending', 'sent'),
        ('sending', 'manual_review'), ('sending', 'refused'),
        ('unknown', 'not_sent'), ('unknown', 'resend'), ('unknown', 'sent'), ('unknown', 'manual_review'),
        ('unknown', 'refused'),
        ('resend', 'sending'), ('resend', 'sent'), ('resend', 'manual_review'), ('resend', 'refused'),
        ('manual_review', 'resend'), ('manual_review', 'sent'), ('manual_review', 'refused'))
      then raise exception 'the send state of a withdrawal does not move from % to %', old.send_state, new.send_state
        using errcode = '23514'; end if;
      return new;
    end $$;
    create trigger withdrawals_send_steps before update of send_state on withdrawals
      for each row when (old.send_state <> new.send_state) execute function withdrawals_check_send_step();
    -- An outdated review and a consumed session stay what they are. Between the other states every step is listed.
    create trigger review_items_steps before update of outdated_at on review_items
      for each row when (old.outdated_at is not null and new.outdated_at is null) execute function refuse_change();
    create trigger sdk_sessions_steps before update of consumed_at on sdk_sessions
      for each row when (old.consumed_at is not null and new.consumed_at is null) execute function refuse_change();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    drop trigger sdk_sessions_steps on sdk_sessions;
    drop trigger review_items_steps on review_items;
    drop trigger withdrawals_send_steps on withdrawals;
    drop function withdrawals_check_send_step();
  `)
}
