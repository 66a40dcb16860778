import type { Knex } from 'knex'

/** What happens after a re-credit, and withdrawals of which another amount was paid (docs/decisions/0038). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    alter table withdrawals
      -- When the creator was credited again. The provider transfer stays watched after it.
      add column recredited_at timestamptz(3) check (recredited_at is null or status = 'completed'),
      -- How often an operator had it sent again.
      add column replays int not null default 0 check (replays >= 0),
      -- What was really paid, as an operator resolved it, and the fee and the debit for that much. Null: as asked for.
      add column paid_kobo bigint check (paid_kobo > 0),
      add column paid_fee_kobo bigint check (paid_fee_kobo >= 0),
      add column paid_debit_micro bigint check (paid_debit_micro between 0 and debit_micro),
      add constraint withdrawals_paid check (
        (paid_kobo is null) = (paid_fee_kobo is null) and (paid_kobo is null) = (paid_debit_micro is null)
        and (paid_kobo is null or paid_kobo + paid_fee_kobo <= gross_kobo));
    create index withdrawals_recredited on withdrawals (recredited_at) where recredited_at is not null;

    -- outdated_at: the provider has shown the opposite since, so the same fact opens a new review.
    alter table review_items
      add column outdated_at timestamptz(3),
      drop constraint review_items_kind_check,
      add constraint review_items_kind_check check (kind in
        ('unknown', 'mismatch', 'reversed', 'failed_after_completed', 'paid_after_failed', 'paid_after_recredit'));
    -- Re-credits from before this migration are watched too, for as long as after any other.
    update withdrawals w set recredited_at = t.created_at
      from ledger_transfers t where t.idem = 'withdrawal:' || w.reference || ':returned';
    update withdrawals set due_at = clock_timestamp()
      where recredited_at > clock_timestamp() - interval '90 days' and due_at is null;
  `)
}

/** Reviews of the new kinds become the nearest kind that the older version knows. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(/* sql */ `
    update review_items set resolved_at = clock_timestamp(), resolution = 'the migration was taken back'
      where kind in ('failed_after_completed', 'paid_after_recredit') and resolved_at is null;
    update review_items set kind = 'reversed' where kind in ('failed_after_completed', 'paid_after_recredit');
    alter table review_items
      drop column outdated_at,
      drop constraint review_items_kind_check,
      add constraint review_items_kind_check check (kind in ('unknown', 'mismatch', 'reversed', 'paid_after_failed'));
    alter table withdrawals
      drop column recredited_at,
      drop column replays,
      drop column paid_kobo,
      drop column paid_fee_kobo,
      drop column paid_debit_micro`)
}
