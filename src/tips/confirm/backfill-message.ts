import type { Knex } from 'knex'
import { verifyMessageSignature } from '../../kernel/ed25519.js'
import { tokenByMint } from '../../kernel/tokens.js'
import { messageOf } from '../../kernel/wire-transaction.js'
import { query, write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { type ChosenMessage, chooseMessage } from '../verify/choose-message.js'
import { claimAgrees } from '../verify/match-tip.js'
import type { DueTip } from '../verify/tip-queue.js'

interface ConfirmedFacts {
  readonly id: string
  readonly recipient: string
  readonly sender: string
  readonly mint: string
  readonly message: string | null
  /** When it was paid: the block time, or where no transaction was read, the creation of its intent. */
  readonly paidAt: Date | undefined
  readonly intentId: string | null
  /** For a tip with an intent: the input token of the intent. */
  readonly inputMint: string | null
  /** The intent's own message. Null for a certain intent, because such a message is final. */
  readonly intentMessage: string | null
  readonly sourceWallet: string | null
  /** The intent's transaction if it carries no reference key. */
  readonly issued: Uint8Array | null
}

/**
 * Takes messages from claims that came after confirmation and agree with the facts (docs/decisions/0006): fills an empty
 * message, and lets a claim that names the intent replace or remove one. The facts are stored, so the chain is not called again.
 */
export async function backfillMessages({ db }: Pick<Services, 'db'>, tips: readonly DueTip[]): Promise<void> {
  const told = tips.filter(({ claims }) => claims.some(({ message }) => message !== null))
  if (told.length === 0) return
  const facts = await readFacts(
    db,
    told.map(({ id }) => id),
  )
  const filled = await Promise.all(
    told.map(async (tip) => {
      const fact = facts.get(tip.id)
      const chosen = fact && (await chooseLate(tip, fact))
      if (chosen === undefined) return []
      const { message, byIntent, isSilent = false } = chosen
      const isNews =
        message === null ? isSilent && fact?.message !== null : byIntent || fact?.message === null
      return isNews ? [{ id: tip.id, ...chosen }] : []
    }),
  )
  const ordered = filled.flat().toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (ordered.length === 0) return
  await write(db, {
    name: 'tips.fill-message',
    text: /* sql */ `
      update tips t set message = f.message, message_by_intent = f.by_intent
      from unnest($1::text[], $2::text[], $3::boolean[]) as f(id, message, by_intent)
      where t.id = f.id and not t.message_by_intent and (t.message is null or f.by_intent or f.message is null)`,
    values: [
      ordered.map(({ id }) => id),
      ordered.map(({ message }) => message),
      ordered.map(({ byIntent }) => byIntent),
    ],
  })
}

async function chooseLate({ id, claims }: DueTip, fact: ConfirmedFacts): Promise<ChosenMessage | undefined> {
  const token = tokenByMint(fact.mint)
  if (token === undefined) return undefined
  const { intentId, intentMessage: message, paidAt } = fact
  const intent =
    intentId === null ? undefined : { id: intentId, message, isCertain: await isCertain(id, fact) }
  const agreeing = claims.filter((claim) =>
    claimAgrees(claim, { ...fact, token, given: tokenByMint(fact.inputMint ?? '') }),
  )
  return chooseMessage(agreeing, { intent, paidAt })
}

/** The transaction carries the reference key of the intent, or signs its message unchanged. */
async function isCertain(signature: string, { sourceWallet, issued }: ConfirmedFacts): Promise<boolean> {
  return (
    issued === null || verifyMessageSignature(sourceWallet ?? '', messageOf(Buffer.from(issued)), signature)
  )
}

async function readFacts(db: Knex, ids: readonly string[]): Promise<Map<string, ConfirmedFacts>> {
  const rows = await query<ConfirmedFacts>(db, {
    name: 'tips.facts',
    text: /* sql */ `
      select t.id, r.wallet as recipient, s.wallet as sender, t.mint, t.message,
             coalesce(t.block_time, i.created_at) as "paidAt", i.id as "intentId", i.input_mint as "inputMint",
             i.message as "intentMessage", i.source_wallet as "sourceWallet",
             case when i.reference_key is null then i.transaction end as issued
      from tips t left join payment_intents i on i.id = coalesce(t.intent_id, t.underpaid_intent_id)
      join parties r on r.id = t.recipient_party join parties s on s.id = t.sender_party
      where t.id = any((select $1::text[])::text[]) and not t.message_by_intent`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}
