import { namedOrigin, type Origin, originColumns } from '../../kernel/trace-context.js'
import { query } from '../../platform/database/database.js'
import type { SignatureStatus } from '../../ports/chain.js'
import type { Services } from '../../services.js'
import { recordReleases, recordTipEvents } from '../describe-tips.js'
import { advanceTips } from '../lifecycle.js'
import { addToSums } from '../read/daily-sums.js'
import {
  classifyFinality,
  type Finality,
  isMissingLong,
  scheduleConfirmed,
} from '../verify/retry-schedule.js'
import type { DueTip, TipSchedule } from '../verify/tip-queue.js'
import { findDisputedTips, isUnchanged, readStoredFacts } from './agreement.js'
import { type CreditedTip, releaseTipCredits, voidTipCredits } from './credit-tips.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'metrics' | 'log'>

/**
 * Finalizes confirmed tips, or fails them when their transaction has vanished. Returns when the other tips are due again,
 * and the error of a call to the chain, if one failed.
 */
export async function finalizeOrFail(
  services: Needs,
  tips: readonly DueTip[],
  statuses: ReadonlyMap<string, SignatureStatus>,
): Promise<{ schedules: TipSchedule[]; failure: unknown }> {
  const finality = new Map(tips.map((tip) => [tip.id, classifyFinality(tip, statuses.get(tip.id))]))
  const tipsWith = (state: Finality): DueTip[] => tips.filter(({ id }) => finality.get(id) === state)
  let failure: unknown
  const keepFailure = (error: unknown): string[] => {
    failure = error
    return []
  }
  const moved = tipsWith('moved')
  const unchanged = await unchangedAfterMove(services, moved).catch(keepFailure)
  const gone = await services.chain.findDropped(tipsWith('vanished').map(landedAt)).catch(keepFailure)
  const finalized = [...tipsWith('final'), ...moved.filter(({ id }) => unchanged.includes(id))]
  const disputed = await findDisputedTips(services, finalized)
  const final = finalized.filter(({ id }) => !disputed.has(id))
  await finalizeTips(services, final, statuses)
  await failVanished(services, [...gone])
  const done = new Set([...final.map(({ id }) => id), ...gone])
  const schedules = tips
    .filter(({ id }) => !done.has(id))
    .map((tip) => scheduleConfirmed(tip, isMissing(finality.get(tip.id))))
  return { schedules, failure }
}

/** In which slot it landed, as one endpoint has said. Only after a long time nothing that was reported can land any more. */
function landedAt({ id, slot, missingMs }: DueTip) {
  return { signature: id, slot: isMissingLong(missingMs) ? (slot ?? 0n) : neverSlot }
}

/** No endpoint is ever beyond it. */
const neverSlot = 2n ** 63n

function isMissing(state: Finality | undefined): boolean | undefined {
  return state === 'missing' || state === 'vanished' || (state === 'wait' ? undefined : false)
}

/** The tips whose recipient, and every other wallet they credit, received the same amount in the new slot. */
async function unchangedAfterMove({ db, chain }: Needs, tips: readonly DueTip[]): Promise<string[]> {
  if (tips.length === 0) return []
  const ids = tips.map(({ id }) => id)
  const stored = await readStoredFacts(db, ids)
  const transactions = await chain.transactions(ids)
  const changed = stored.filter((facts) => !isUnchanged(chain, facts, transactions.get(facts.id)))
  return ids.filter((id) => !changed.some((facts) => facts.id === id))
}

/** Makes tips final and their credits available. A tip stays due only when a claim came in meanwhile. */
async function finalizeTips(
  { transact }: Needs,
  tips: readonly DueTip[],
  statuses: ReadonlyMap<string, SignatureStatus>,
): Promise<void> {
  if (tips.length === 0) return
  await transact(async (uow) => {
    const { trx, log } = uow
    const rows = await query<LoggedTip & { readonly further: readonly string[] }>(trx, {
      name: 'tips.finalize',
      text: /* sql */ `
        with final as (
          select * from unnest((select $1::text[]), (select $2::int[]), (select $3::bigint[])) as f(id, attempts, slot)
        ), locked as materialized (
          select t.id, f.slot, t.attempts = f.attempts as unchanged from tips t join final f on f.id = t.id
          where t.status = 'confirmed' and t.finalized_at is null order by t.id for update of t
        ), further as (
          update tips t set finalized_at = clock_timestamp(), slot = l.slot from locked l
          where t.main_id = l.id and t.status = 'confirmed'
          returning t.id, t.main_id
        )
        update tips t set finalized_at = clock_timestamp(), missing_since = null, slot = l.slot,
          due_at = case when not l.unchanged then t.due_at end
        from locked l where t.id = l.id
        returning t.id, ${originColumns('t')}, t.further_credits as "furtherCredits",
          array(select f.id from further f where f.main_id = t.id) as further`,
      values: [
        tips.map(({ id }) => id),
        tips.map(({ attempts }) => attempts),
        tips.map(({ id, slot }) => statuses.get(id)?.slot ?? slot),
      ],
    })
    const released = await releaseTipCredits(trx, rows)
    const ids = rows.flatMap(({ id, further }) => [id, ...further])
    recordTipEvents(
      uow,
      'tip.final',
      ids.map((id) => ({ id })),
    )
    recordReleases(uow, released)
    for (const row of rows) log({ tip: row.id, ...namedOrigin(row) }, 'a tip is final')
  })
}

type LoggedTip = CreditedTip & Origin

const vanishing = advanceTips('failed', ['confirmed'])

/**
 * Fails confirmed tips whose transaction has vanished, the only automatic way to `failed`. Voids their pending credits, takes
 * them out of the daily figures and raises an alert.
 */
async function failVanished({ transact, metrics, log }: Needs, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const failed = await transact(async (uow) => {
    const { trx } = uow
    const rows = await query<LoggedTip & { readonly mainId: string | null }>(trx, {
      name: 'tips.fail',
      text: /* sql */ `
        with failed as (
          update tips set ${vanishing.set}, due_at = null
          where id = any(array(
            select id from tips
            where (id = any($1::text[]) or main_id = any($1::text[])) and ${vanishing.from} and finalized_at is null
            order by id for update))
          returning id, main_id, request_id, trace_id, recipient_party, recorded_at, mint, decimals, display_raw, further_credits
        ), taken_back as (
          ${addToSums('select recipient_party as party, recorded_at, mint, decimals, -1 as n, -display_raw as raw from failed')}
        )
        select f.id, ${originColumns('f')}, f.further_credits as "furtherCredits", f.main_id as "mainId" from failed f`,
      values: [ids],
    })
    const mains = rows.filter(({ mainId }) => mainId === null)
    for (const tip of mains.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await voidTipCredits(trx, tip)
    recordTipEvents(uow, 'tip.failed', rows)
    return mains
  })
  for (const tip of failed) {
    metrics.alerts.inc({ kind: 'tip_vanished' })
    log.error(
      { tip: tip.id, ...namedOrigin(tip) },
      'the transaction of a confirmed tip has vanished from the chain: the tip is failed and its pending credit is voided',
    )
  }
}
