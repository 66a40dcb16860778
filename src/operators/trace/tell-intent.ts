import type { Knex } from 'knex'
import { displayText } from '../../kernel/money.js'
import { tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { byRequest, linesAt, type WholeStory } from './story.js'

interface IntentRow {
  readonly createdAt: Date
  readonly dueAt: Date | null
  readonly attempts: number
  readonly provider: string
  readonly inputMint: string
  readonly inputRaw: string
  readonly sourceWallet: string
  readonly payoutWallet: string
  readonly lastValidBlockHeight: bigint
  readonly creatorId: string | null
  readonly requestId: string | null
}

/** A payment intent, and the tips that carry it. */
export async function tellIntent(db: Knex, id: string): Promise<WholeStory | undefined> {
  const [intent] = await query<IntentRow>(db, {
    name: 'trace.intent',
    text: /* sql */ `
      select i.created_at as "createdAt", i.due_at as "dueAt", i.attempts, i.provider, i.input_mint as "inputMint",
        i.input_raw as "inputRaw", i.source_wallet as "sourceWallet", i.payout_wallet as "payoutWallet",
        i.last_valid_block_height as "lastValidBlockHeight", p.user_id as "creatorId", i.request_id as "requestId"
      from payment_intents i join parties p on p.id = i.recipient_party where i.id = $1`,
    values: [id],
  })
  if (intent === undefined) return undefined
  const tips = await query<{ id: string; at: Date; status: string; isShort: boolean }>(db, {
    name: 'trace.intent-tips',
    text: /* sql */ `
      select id, recorded_at as at, status, false as "isShort" from tips where intent_id = $1
      union select id, recorded_at, status, true from tips where underpaid_intent_id = $1
      union select id, recorded_at, status, false from tips where claimed_intent_id = $1 and intent_id is null
        and underpaid_intent_id is null
      order by at desc limit 20`,
    values: [id],
  })
  const { createdAt, dueAt, provider, inputMint, inputRaw, sourceWallet, payoutWallet, creatorId } = intent
  const token = tokenByMint(inputMint)
  return {
    kind: 'intent',
    id,
    facts: [
      `An intent to pay ${displayText(BigInt(inputRaw), token?.decimals ?? 0)} ${token?.symbol ?? inputMint} from ${sourceWallet} to ${payoutWallet}, by ${provider}.`,
      `Its transaction can land up to block height ${intent.lastValidBlockHeight}.`,
      tips.length === 0 ? 'No tip carries it.' : `${tips.length} tips carry or claim it.`,
      ...(dueAt === null
        ? []
        : [
            `The finder looks for its payment next at ${dueAt.toISOString()}, after ${intent.attempts} searches.`,
          ]),
    ],
    lines: [
      ...linesAt({ [`the intent was made${byRequest(intent.requestId)}`]: createdAt }),
      ...tips.map((tip) => ({
        at: tip.at,
        of: { kind: 'tip' as const, id: tip.id },
        text: `the tip ${tip.id} was recorded: ${tip.status}${tip.isShort ? ', it pays too little' : ''}`,
      })),
    ],
    related: creatorId === null ? [] : [{ kind: 'creator' as const, id: creatorId }],
    commands: dueAt === null ? [] : [`work retry ${id} --kind finder --apply`],
  }
}
