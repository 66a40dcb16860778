import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'

/**
 * Everything that is gone of recorded payments, or on its way back, as SQL: which part was in suspense, which was credited, what the
 * creator and the platform lose of it, and how many cents of the tip's amount it is (null: as many as the naira are of what counted).
 */
export const gonePayments = /* sql */ `(
  select provider_transaction, suspense_kobo, credited_kobo, debit_micro, fee_micro, null::bigint as cents
  from payment_returns where restored_at is null
  union all
  select provider_transaction, 0, kobo, debit_micro, fee_micro, amount_cents from refunds
  where source = 'tip' and status <> 'failed')`

/** The ledger key of the nth assignment of a payment's part in suspense, as SQL. */
export function assignedKey(transaction: string, n: string): string {
  return `'fiatpay:' || ${transaction} || ':assigned' || case when ${n} > 1 then ':' || ${n} else '' end`
}

/** The ledger keys of everything that a payment credited, as SQL: an array. */
export function creditKeysOf(transaction: string): string {
  return /* sql */ `array(
    select 'fiatpay:' || ${transaction}
    union all
    select ${assignedKey(transaction, 'n')} from suspense_items i cross join generate_series(1, i.assignments) n
    where i.provider_transaction = ${transaction})`
}

/** What a payment credited, as SQL: its naira that counted, the creator's dollars and the platform's fee of them. */
export function creditedOf(transaction: string): string {
  return /* sql */ `(
    select coalesce(sum(e.amount) filter (where a.kind = 'fx' and a.currency = 'NGN'), 0)::bigint as kobo,
      coalesce(sum(e.amount) filter (where a.user_id is not null and a.currency = 'USDC'), 0)::bigint as creator,
      coalesce(sum(e.amount) filter (where a.kind = 'platform_fee' and a.currency = 'USDC'), 0)::bigint as fee
    from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
    where t.idem = any(${creditKeysOf(transaction)}))`
}

/** Whether what was in suspense went back because an operator said so, as SQL. `item`: the row of `suspense_items`. */
export function returnedByOperator(item: string): string {
  return `(${item}.resolution = 'returned' and ${item}.resolved_by not in ('dispute', 'refund', 'reversal'))`
}

/** How many kobo of a payment are gone or on their way back, as SQL: also what was in suspense and returned from here. */
export function goneKoboOf(transaction: string): string {
  return /* sql */ `(
    coalesce((select sum(g.suspense_kobo + g.credited_kobo) from ${gonePayments} g
      where g.provider_transaction = ${transaction}), 0)
    + coalesce((select sum(o.kobo) from refunds o
      where o.provider_transaction = ${transaction} and o.source = 'suspense' and o.status <> 'failed'), 0)
    + coalesce((select i.kobo from suspense_items i where i.provider_transaction = ${transaction} and ${returnedByOperator('i')}
      and not exists (select from refunds o where o.id = i.refund_id and o.status = 'completed')), 0))::bigint`
}

/** How much of a tip is gone, in cents of its amount. */
export async function goneCents(trx: Knex, intentId: string): Promise<bigint> {
  const [row] = await query<{ cents: bigint }>(trx, {
    name: 'fiat.gone-cents',
    text: /* sql */ `
      select coalesce(least(max(t.display_raw),
        sum(coalesce(g.cents, round(t.display_raw * g.credited_kobo / nullif(f.settled_kobo, 0))))), 0)::bigint as cents
      from ${gonePayments} g join fiat_payments p using (provider_transaction) join fiat_intents f on f.id = p.intent_id
      join tips t on t.id = p.intent_id where p.intent_id = $1`,
    values: [intentId],
  })
  return row?.cents ?? 0n
}
