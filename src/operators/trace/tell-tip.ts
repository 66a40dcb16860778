import type { Knex } from 'knex'
import { creditKeysOf } from '../../fiat/gone-payments.js'
import { query } from '../../platform/database/database.js'
import { creditKeys, type FurtherCredits } from '../../tips/confirm/credit-tips.js'
import {
  amountSql,
  auditLines,
  byRequestSql,
  ledgerLines,
  linesPerPage,
  nairaSql,
  readLines,
  timeSql,
  type WholeStory,
} from './story.js'

interface TipRow {
  readonly facts: readonly string[]
  readonly intent: string | null
  readonly creatorId: string | null
  readonly furtherCredits: FurtherCredits | null
  /** The provider's ids of a naira tip's payments. */
  readonly payments: readonly string[]
  /** The ledger keys of what they credited. */
  readonly nairaKeys: readonly string[]
}

/** A tip in crypto or naira, from its record to its credit and what came back of it. */
export async function tellTip(db: Knex, id: string, before: Date): Promise<WholeStory | undefined> {
  const [tip] = await query<TipRow>(db, { name: 'trace.tip', text: tipSql, values: [id] })
  if (tip === undefined) return undefined
  const { facts, intent, creatorId, furtherCredits, payments, nairaKeys } = tip
  const commands = await query<{ command: string }>(db, {
    name: 'trace.tip-commands',
    text: commandsSql,
    values: [id],
  })
  return {
    kind: 'tip',
    id,
    facts,
    lines: [
      ...(await readLines(db, 'tip-life', lifeSql, [id])),
      ...(await ledgerLines(db, [...creditKeys({ id, furtherCredits }), ...nairaKeys])),
      ...(await auditLines(
        db,
        payments.map((payment) => `payment:${payment}`),
        before,
      )),
    ],
    related: [
      ...(intent === null ? [] : [{ kind: 'intent' as const, id: intent }]),
      ...(creatorId === null ? [] : [{ kind: 'creator' as const, id: creatorId }]),
    ],
    commands: commands.length === 0 ? ['check-books'] : [...new Set(commands.map(({ command }) => command))],
  }
}

const tipSql = /* sql */ `
  select coalesce(t.intent_id, t.underpaid_intent_id) as intent, coalesce(p.user_id, w.user_id, f.user_id) as "creatorId",
    t.further_credits as "furtherCredits",
    array(select provider_transaction from fiat_payments where intent_id = t.id order by paid_at) as payments,
    array(select unnest(${creditKeysOf('m.provider_transaction')}) from fiat_payments m where m.intent_id = t.id) as "nairaKeys",
    array_remove(array[
      'A tip ' || case t.kind when 'fiat' then 'in naira' else 'on the chain' end || ' of '
        || coalesce(${amountSql('t.display_raw', 't.decimals')} || ' ' || t.token_symbol, t.amount || ' ' || t.token_symbol || ' (as claimed)')
        || ': ' || t.status || coalesce(', ' || t.outcome, '') || '.',
      case when not t.listed then 'It is in no list.' end,
      'It was paid to the creator''s own wallet ' || t.paid_wallet || ', so it is no balance.',
      case when t.underpaid_intent_id is not null then 'It carries an intent and pays too little for it.' end,
      'The verifier looks at it next at ' || ${timeSql('t.due_at')} || ', after ' || t.attempts || ' attempts.',
      'Its last error: ' || t.last_error], null) as facts
  from tips t left join parties p on p.id = t.recipient_party left join wallets w on w.public_key = t.creator_wallet
    left join fiat_intents f on f.id = t.id
  where t.id = $1`

const lifeSql = /* sql */ `
  select l.* from tips t cross join lateral (values
      (t.recorded_at, case t.kind when 'fiat' then 'the intent was made' else 'the tip was recorded' end || ${byRequestSql('t')}),
      (t.block_time, 'the transaction landed in slot ' || t.slot),
      (t.confirmed_at, 'the tip was confirmed'),
      (t.finalized_at, 'the transaction was final'),
      (t.missing_since, 'the transaction is missing on the chain since then'),
      (t.found_false_at, 'its claim was found false')) l
    where t.id = $1
  union all select l.* from tip_claims c cross join lateral (values
      (c.created_at, 'another claim for the signature was recorded' || ${byRequestSql('c')}),
      (c.found_false_at, 'that claim was found false')) l
    where c.tip_id = $1
  union all select l.* from fiat_intents f cross join lateral (values
      (f.expires_at, 'the intent of ' || ${nairaSql('f.charge_kobo')} || ' expires'),
      (f.due_at, 'the provider is asked next' || coalesce(', after the error: ' || f.last_error, ''))) l
    where f.id = $1
  union all select at, ${nairaSql('kobo')} || ' ' || what || ' (' || id || ')' from (
    select paid_at as at, 'paid' as what, provider_transaction as id, kobo from fiat_payments where intent_id = $1
    union all select created_at, 'recorded, ' || disposition, provider_transaction, kobo from fiat_payments where intent_id = $1
    union all select s.resolved_at, 'taken out of suspense: ' || s.resolution, s.provider_transaction, s.kobo
      from suspense_items s join fiat_payments p using (provider_transaction) where p.intent_id = $1
    union all select created_at, 'refund asked for', id, kobo from refunds where intent_id = $1
    union all select ended_at, 'refund ' || status || coalesce(': ' || failure_reason, ''), id, kobo
      from refunds where intent_id = $1
    union all select opened_at, 'disputed, now ' || state, id, kobo from disputes where intent_id = $1
    union all select ended_at, 'dispute ended: ' || state, id, kobo from disputes where intent_id = $1
    union all select r.created_at, 'went back: ' || r.kind, r.provider_transaction, r.suspense_kobo + r.credited_kobo
      from payment_returns r join fiat_payments p using (provider_transaction) where p.intent_id = $1
    union all select r.restored_at, 'came again', r.provider_transaction, r.suspense_kobo + r.credited_kobo
      from payment_returns r join fiat_payments p using (provider_transaction) where p.intent_id = $1) naira`

/** What waits for a person, and what a person can have looked at again. Each command shows its plan, and acts with --apply. */
const commandsSql = /* sql */ `
  select 'suspense --refund ' || s.provider_transaction as command
    from suspense_items s join fiat_payments p using (provider_transaction)
   where p.intent_id = $1 and s.resolved_at is null
  union all select 'suspense --assign ' || s.provider_transaction || ' --reason <text>'
    from suspense_items s join fiat_payments p using (provider_transaction)
   where p.intent_id = $1 and s.resolved_at is null and s.state = 'waiting'
  union all select 'disputes ' || id from disputes where intent_id = $1 and state = 'open'
  union all select 'refunds' from refunds where intent_id = $1 and ended_at is null
  union all select 'work retry ' || id || ' --kind settlement --apply' from fiat_intents where id = $1 and due_at is not null
  union all select 'work retry ' || id || ' --kind verifier --apply' from tips where id = $1 and kind = 'chain' and due_at is not null
  limit ${linesPerPage}`
