import type { Knex } from 'knex'
import { tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { chooseMessage, claimAgrees } from '../verify/match-tip.js'
import type { DueTip } from '../verify/tip-queue.js'

interface ConfirmedFacts {
  readonly id: string
  readonly recipient: string
  readonly sender: string
  readonly mint: string
  readonly intentId: string | null
  /** For a tip with an intent: the input token of the intent. */
  readonly inputMint: string | null
}

/**
 * Fills an empty message once, from a claim that came after confirmation and agrees with the facts. The facts are stored,
 * so the chain is not called again.
 */
export async function backfillMessages({ db }: Pick<Services, 'db'>, tips: readonly DueTip[]): Promise<void> {
  if (tips.length === 0) return
  const facts = await readFacts(
    db,
    tips.map(({ id }) => id),
  )
  const filled = tips.flatMap(({ id, claims }) => {
    const fact = facts.get(id)
    const token = fact && tokenByMint(fact.mint)
    if (fact === undefined || token === undefined) return []
    const message = chooseMessage(
      claims.filter((claim) =>
        claimAgrees(claim, { ...fact, token, given: tokenByMint(fact.inputMint ?? '') }),
      ),
      fact.intentId,
    )
    return message === null ? [] : [{ id, message }]
  })
  if (filled.length === 0) return
  const ordered = filled.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await query(db, {
    name: 'tips.fill-message',
    text: `update tips t set message = f.message from unnest($1::text[], $2::text[]) as f(id, message)
           where t.id = f.id and t.message is null`,
    values: [ordered.map(({ id }) => id), ordered.map(({ message }) => message)],
  })
}

async function readFacts(db: Knex, ids: readonly string[]): Promise<Map<string, ConfirmedFacts>> {
  const rows = await query<ConfirmedFacts>(db, {
    name: 'tips.facts',
    text: `select t.id, r.wallet as recipient, s.wallet as sender, t.mint,
                  coalesce(t.intent_id, t.underpaid_intent_id) as "intentId",
                  i.input_mint as "inputMint"
           from tips t left join payment_intents i on i.id = coalesce(t.intent_id, t.underpaid_intent_id) join parties r on r.id = t.recipient_party join parties s on s.id = t.sender_party
           where t.id = any($1::text[]) and t.message is null`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}
