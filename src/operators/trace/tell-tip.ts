import type { Knex } from 'knex'
import { displayText, nairaText } from '../../kernel/money.js'
import { query } from '../../platform/database/database.js'
import { creditKey } from '../../tips/confirm/credit-tips.js'
import {
  auditLines,
  byRequest,
  ledgerLines,
  linesAt,
  linesPerPage,
  type StoryLine,
  type WholeStory,
} from './story.js'

interface TipRow {
  readonly id: string
  readonly requestId: string | null
  readonly kind: 'chain' | 'fiat'
  readonly status: string
  readonly outcome: string | null
  readonly tokenSymbol: string
  readonly raw: string | null
  readonly decimals: number | null
  readonly claimed: string
  readonly recordedAt: Date
  readonly blockTime: Date | null
  readonly confirmedAt: Date | null
  readonly finalizedAt: Date | null
  readonly missingSince: Date | null
  readonly foundFalseAt: Date | null
  readonly slot: bigint | null
  readonly dueAt: Date | null
  readonly attempts: number
  readonly lastError: string | null
  readonly intentId: string | null
  readonly underpaidIntentId: string | null
  readonly listed: boolean
  readonly paidWallet: string | null
  readonly creatorId: string | null
  readonly furtherCredits: Readonly<Record<string, string>> | null
}

/** A tip in crypto or naira, from its record to its credit and what came back of it. */
export async function tellTip(db: Knex, id: string, before: Date): Promise<WholeStory | undefined> {
  const [tip] = await query<TipRow>(db, {
    name: 'trace.tip',
    text: /* sql */ `
      select t.id, t.request_id as "requestId", t.kind, t.status, t.outcome, t.token_symbol as "tokenSymbol", t.display_raw as raw, t.decimals,
        t.amount::text as claimed, t.recorded_at as "recordedAt", t.block_time as "blockTime", t.confirmed_at as "confirmedAt",
        t.finalized_at as "finalizedAt", t.missing_since as "missingSince", t.found_false_at as "foundFalseAt", t.slot,
        t.due_at as "dueAt", t.attempts, t.last_error as "lastError", t.intent_id as "intentId",
        t.underpaid_intent_id as "underpaidIntentId", t.listed, t.paid_wallet as "paidWallet",
        coalesce(p.user_id, w.user_id, f.user_id) as "creatorId", t.further_credits as "furtherCredits"
      from tips t left join parties p on p.id = t.recipient_party left join wallets w on w.public_key = t.creator_wallet
        left join fiat_intents f on f.id = t.id
      where t.id = $1`,
    values: [id],
  })
  if (tip === undefined) return undefined
  const life = tip.kind === 'fiat' ? await nairaLife(db, tip, before) : await chainLife(db, tip)
  const { creatorId, intentId, underpaidIntentId } = tip
  const intent = intentId ?? underpaidIntentId
  return {
    kind: 'tip',
    id,
    facts: factsOf(tip),
    lines: [
      ...linesAt({
        [`${tip.kind === 'fiat' ? 'the intent was made' : 'the tip was recorded'}${byRequest(tip.requestId)}`]:
          tip.recordedAt,
        [`the transaction landed in slot ${tip.slot}`]: tip.blockTime,
        'the tip was confirmed': tip.confirmedAt,
        'the transaction was final': tip.finalizedAt,
        'the transaction is missing on the chain since then': tip.missingSince,
        'its claim was found false': tip.foundFalseAt,
      }),
      ...life.lines,
    ],
    related: [
      ...(intent === null ? [] : [{ kind: 'intent' as const, id: intent }]),
      ...(creatorId === null ? [] : [{ kind: 'creator' as const, id: creatorId }]),
    ],
    commands: life.commands.length === 0 ? ['check-books'] : life.commands,
  }
}

function factsOf(tip: TipRow): string[] {
  const { kind, status, outcome, raw, decimals, claimed, tokenSymbol, dueAt, attempts, lastError } = tip
  const amount =
    raw === null || decimals === null
      ? `${claimed} ${tokenSymbol} (as claimed)`
      : `${displayText(BigInt(raw), decimals)} ${tokenSymbol}`
  return [
    `A tip ${kind === 'fiat' ? 'in naira' : 'on the chain'} of ${amount}: ${status}${outcome === null ? '' : `, ${outcome}`}.`,
    ...(tip.listed ? [] : ['It is in no list.']),
    ...(tip.paidWallet === null
      ? []
      : [`It was paid to the creator's own wallet ${tip.paidWallet}, so it is no balance.`]),
    ...(tip.underpaidIntentId === null ? [] : ['It carries an intent and pays too little for it.']),
    ...(dueAt === null
      ? []
      : [`The verifier looks at it next at ${dueAt.toISOString()}, after ${attempts} attempts.`]),
    ...(lastError === null ? [] : [`Its last error: ${lastError}`]),
  ]
}

/** The part of a life that only one kind of tip has. */
interface Life {
  readonly lines: readonly StoryLine[]
  /** What a person could do now. */
  readonly commands: readonly string[]
}

async function chainLife(db: Knex, { id, furtherCredits, dueAt }: TipRow): Promise<Life> {
  const claims = await query<{ at: Date; foundFalseAt: Date | null; requestId: string | null }>(db, {
    name: 'trace.claims',
    text: /* sql */ `
      select created_at as at, found_false_at as "foundFalseAt", request_id as "requestId" from tip_claims where tip_id = $1`,
    values: [id],
  })
  const lines = [
    ...claims.flatMap(({ at, foundFalseAt, requestId }) =>
      linesAt({
        [`another claim for the signature was recorded${byRequest(requestId)}`]: at,
        'that claim was found false': foundFalseAt,
      }),
    ),
    ...(await ledgerLines(db, [
      creditKey(id),
      ...Object.keys(furtherCredits ?? {}).map((wallet) => creditKey(id, wallet)),
    ])),
  ]
  return { lines, commands: dueAt === null ? [] : [`work retry ${id} --kind verifier --apply`] }
}

interface Happened {
  readonly at: Date | null
  readonly what: string
  readonly id: string
  readonly kobo: bigint
}

async function nairaLife(db: Knex, { id }: TipRow, before: Date): Promise<Life> {
  const rows = await query<Happened>(db, {
    name: 'trace.naira',
    text: /* sql */ `
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
        from payment_returns r join fiat_payments p using (provider_transaction) where p.intent_id = $1`,
    values: [id],
  })
  const [intent] = await query<{
    expiresAt: Date
    chargeKobo: bigint
    dueAt: Date | null
    lastError: string | null
  }>(db, {
    name: 'trace.fiat-intent',
    text: /* sql */ `
      select expires_at as "expiresAt", charge_kobo as "chargeKobo", due_at as "dueAt", last_error as "lastError"
        from fiat_intents where id = $1`,
    values: [id],
  })
  const payments = [...new Set(rows.filter(({ what }) => what === 'paid').map((row) => row.id))]
  const keys = payments.flatMap((payment) => [`fiatpay:${payment}`, `fiatpay:${payment}:assigned`])
  const lines = [
    ...linesAt({
      [`the intent of ${nairaText(intent?.chargeKobo ?? 0n)} expires`]: intent?.expiresAt,
      [`the provider is asked next${intent?.lastError ? `, after the error: ${intent.lastError}` : ''}`]:
        intent?.dueAt,
    }),
    ...rows.flatMap(({ at, what, id: of, kobo }) => linesAt({ [`${nairaText(kobo)} ${what} (${of})`]: at })),
    ...(await ledgerLines(db, keys)),
    ...(await auditLines(
      db,
      payments.map((payment) => `payment:${payment}`),
      before,
    )),
  ]
  const retry = intent?.dueAt ? [`work retry ${id} --kind settlement --apply`] : []
  return { lines, commands: [...(await nairaCommands(db, id)), ...retry] }
}

/** What of a naira tip waits for a person. Each command shows its plan, and acts with --apply. */
async function nairaCommands(db: Knex, id: string): Promise<string[]> {
  const rows = await query<{ command: string }>(db, {
    name: 'trace.naira-open',
    text: /* sql */ `
      select 'suspense --refund ' || s.provider_transaction as command
        from suspense_items s join fiat_payments p using (provider_transaction)
       where p.intent_id = $1 and s.resolved_at is null
      union all select 'suspense --assign ' || s.provider_transaction || ' --reason <text>'
        from suspense_items s join fiat_payments p using (provider_transaction)
       where p.intent_id = $1 and s.resolved_at is null and s.state = 'waiting'
      union all select 'disputes ' || id from disputes where intent_id = $1 and state = 'open'
      union all select 'refunds' from refunds where intent_id = $1 and ended_at is null
      limit ${linesPerPage}`,
    values: [id],
  })
  return [...new Set(rows.map(({ command }) => command))]
}
