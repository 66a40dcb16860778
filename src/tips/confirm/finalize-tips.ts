import { type Token, tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import type { ChainTransaction, SignatureStatus } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { amountReceived } from '../verify/balance-changes.js'
import { classifyFinality, type Finality, scheduleConfirmed } from '../verify/retry-schedule.js'
import type { DueTip, TipSchedule } from '../verify/tip-queue.js'
import { releaseTipCredits, voidTipCredit } from './credit-tips.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'metrics' | 'log'>

/**
 * Brings confirmed tips to their end by their statuses: final, or vanished. Answers when to look again at those for
 * which neither is certain. Throws after all of them when the chain gave no usable answer about some.
 */
export async function finalizeOrFail(
  services: Needs,
  tips: readonly DueTip[],
  statuses: ReadonlyMap<string, SignatureStatus>,
): Promise<{ looks: TipSchedule[]; failure: unknown }> {
  const judged = new Map(tips.map((tip) => [tip.id, classifyFinality(tip, statuses.get(tip.id))]))
  const those = (verdict: Finality): DueTip[] => tips.filter(({ id }) => judged.get(id) === verdict)
  let failure: unknown
  const none = (error: unknown): string[] => {
    failure = error
    return []
  }
  const moved = those('moved')
  const unchanged = await sameElsewhere(services, moved).catch(none)
  const gone = await services.chain.vanished(those('vanished').map(sighting)).catch(none)
  const final = [...those('final'), ...moved.filter(({ id }) => unchanged.includes(id))]
  await finalizeTips(services, final, statuses)
  await failVanished(services, [...gone])
  const settled = new Set([...final.map(({ id }) => id), ...gone])
  const looks = tips
    .filter(({ id }) => !settled.has(id))
    .map((tip) => scheduleConfirmed(tip, missingAt(judged.get(tip.id))))
  return { looks, failure }
}

function sighting({ id, slot }: DueTip) {
  return { signature: id, slot: slot ?? 0n }
}

function missingAt(verdict: Finality | undefined): boolean | undefined {
  return verdict === 'missing' || verdict === 'vanished' || (verdict === 'wait' ? undefined : false)
}

interface Stored {
  readonly id: string
  readonly wallet: string
  readonly mint: string
  readonly received: string
}

/** Those of the tips that brought the same where they were finalized as where they were confirmed. */
async function sameElsewhere({ db, chain }: Needs, tips: readonly DueTip[]): Promise<string[]> {
  if (tips.length === 0) return []
  const ids = tips.map(({ id }) => id)
  const stored = await query<Stored>(db, {
    name: 'tips.stored-facts',
    text: `select t.id, p.wallet, t.mint, t.received_raw as received
           from tips t join parties p on p.id = t.recipient_party where t.id = any($1::text[])`,
    values: [ids],
  })
  const transactions = await chain.transactions(ids)
  const isSame = ({ id, wallet, mint, received }: Stored): boolean => {
    const found: ChainTransaction | undefined = transactions.get(id)
    const token = tokenByMint(mint) as Token
    return found?.failed === false && amountReceived(chain, found, wallet, token) === BigInt(received)
  }
  return stored.filter(isSame).map(({ id }) => id)
}

/** Makes tips final: what they brought becomes available, and nothing is left to do unless a claim came meanwhile. */
async function finalizeTips(
  { transact }: Needs,
  tips: readonly DueTip[],
  statuses: ReadonlyMap<string, SignatureStatus>,
): Promise<void> {
  if (tips.length === 0) return
  await transact(async ({ trx }) => {
    const rows = await query<{ id: string }>(trx, {
      name: 'tips.finalize',
      text: /* sql */ `
        with final as (
          select * from unnest($1::text[], $2::int[], $3::bigint[]) as f(id, attempts, slot)
        ), held as materialized (
          select t.id, f.slot, t.attempts = f.attempts as untouched from tips t join final f on f.id = t.id
          where t.status = 'confirmed' and t.finalized_at is null order by t.id for update of t
        )
        update tips t set finalized_at = clock_timestamp(), missing_since = null, slot = h.slot,
          due_at = case when not h.untouched then t.due_at end
        from held h where t.id = h.id
        returning t.id`,
      values: [
        tips.map(({ id }) => id),
        tips.map(({ attempts }) => attempts),
        tips.map(({ id, slot }) => statuses.get(id)?.slot ?? slot),
      ],
    })
    await releaseTipCredits(
      trx,
      rows.map(({ id }) => id),
    )
  })
}

/**
 * Fails confirmed tips that are on the chain no more, the only automatic way into `failed`: their pending credits are
 * taken back and an operator is called.
 */
async function failVanished({ transact, metrics, log }: Needs, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const failed = await transact(async ({ trx }) => {
    const rows = await query<{ id: string }>(trx, {
      name: 'tips.fail',
      text: /* sql */ `
        update tips set status = 'failed', due_at = null
        where id = any(array(
          select id from tips where id = any($1::text[]) and status = 'confirmed' and finalized_at is null
          order by id for update))
        returning id`,
      values: [ids],
    })
    for (const { id } of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await voidTipCredit(trx, id)
    return rows
  })
  for (const { id } of failed) {
    metrics.alerts.inc({ kind: 'tip_vanished' })
    log.error({ tip: id }, 'a confirmed tip is on the chain no more; its credit was taken back')
  }
}
