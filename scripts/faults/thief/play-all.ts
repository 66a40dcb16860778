import { setTimeout as sleep } from 'node:timers/promises'
import { sqlList } from '../../../src/kernel/state-machine.js'
import { heldStates, openStatuses } from '../../../src/outgoing/lifecycle.js'
import { query } from '../../../src/platform/database/database.js'
import { withClosing } from '../../kit/closing.js'
import { countBy, type Report, sortedRows } from '../../kit/report.js'
import type { ServerUrls } from '../../kit/servers.js'
import { compareMoney } from '../world/compare-payouts.js'
import { type Interleaving, playInterleaving } from './interleaving.js'
import { missingActs, type Tally } from './missing-acts.js'
import { fundedMicro, isThiefs } from './set-scene.js'
import { openStage, type Stage } from './stage.js'

export interface ThiefPlan {
  readonly seed: number
  /** The first interleaving, and how many. One alone repeats what it did in a longer run. */
  readonly first: number
  readonly count: number
  readonly webs: number
  readonly report: (text: string) => void
}

/** Interleavings of different accounts run at the same time; each is one story. */
const atOnce = 6
const endMs = 120_000
const pollMs = 100
const reportMs = 5000
/** A run as long as this must have seen every act that is named. */
const longRun = 1000
const outcomesShown = 8

/** Plays the interleavings, then compares all money with the payout stand-in and the ledger. Stops after the first faults. */
export function playThieves(servers: ServerUrls, plan: ThiefPlan): Promise<Report> {
  return withClosing(async (defer) => {
    const { seed, first, count, webs, report } = plan
    const stage = await openStage(defer, servers, seed, webs)
    const played: Interleaving[] = []
    let next = first
    let isBroken = false
    let reportedAt = Date.now()
    async function playNext(): Promise<void> {
      while (next < first + count && !isBroken) {
        const one = await playInterleaving(stage, seed, next++)
        played.push(one)
        isBroken ||= one.faults.length > 0
        if (Date.now() - reportedAt < reportMs) continue
        reportedAt = Date.now()
        report(`${played.length} of ${count} interleavings`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, playNext))
    const unended = await endWithdrawals(stage)
    const { transfers } = stage.fiatpay.log()
    const toThief = new Set(transfers.map(({ accountNumber }) => accountNumber).filter(isThiefs))
    const broken = played
      .map((one) => (one.accounts.some((account) => toThief.has(account)) ? withFault(one, stolen) : one))
      .filter(({ faults }) => faults.length > 0)
    const funded = new Map(played.flatMap(({ userId }) => (userId === '' ? [] : [[userId, fundedMicro]])))
    const money = await compareMoney(stage.db, transfers, funded)
    const tally = tallyOf(played)
    return {
      rows: [
        ...rowsOf(tally),
        ...sortedRows(countBy(played.map(({ knowledge }) => knowledge)), 'the thief began with: '),
        ['withdrawals', money.withdrawals],
        ['payouts', transfers.length],
      ],
      faults: [
        ...broken.flatMap(({ index, knowledge, story, faults }) => [
          `interleaving ${index} (the thief has: ${knowledge})\n  ${story.join('\n  ')}`,
          ...faults.map((fault) => `interleaving ${index}: ${fault}`),
        ]),
        ...unended,
        ...money.faults,
        ...(count === 1 ? [] : missingActs(tally, count >= longRun)),
      ],
      kept: 'no money went to the thief, and every owner has the account',
    }
  })
}

/** Each act with its outcomes, the most frequent first. */
function rowsOf(tally: Tally): (readonly [string, string])[] {
  return Object.entries(tally)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([act, outcomes]) => {
      const sorted = Object.entries(outcomes).sort(([, a], [, b]) => b - a)
      const shown = sorted.slice(0, outcomesShown).map(([word, count]) => `${word} ${count}`)
      return [act, shown.join(', ')]
    })
}

const stolen = 'MONEY WENT TO THE THIEF'

function withFault(one: Interleaving, fault: string): Interleaving {
  return { ...one, faults: [...one.faults, fault] }
}

/** Waits until no withdrawal is on its way. */
async function endWithdrawals({ db }: Stage): Promise<string[]> {
  for (const deadline = Date.now() + endMs; ; await sleep(pollMs)) {
    const open = await query<{ reference: string; sendState: string }>(db, {
      name: 'thief.open',
      text: /* sql */ `
        select reference, send_state as "sendState" from withdrawals
         where status in (${sqlList(openStatuses)}) and send_state not in (${sqlList(heldStates)})`,
      values: [],
    })
    if (open.length === 0) return []
    if (Date.now() > deadline)
      return open.map(({ reference, sendState }) => `${reference} did not end: ${sendState}`)
  }
}

function tallyOf(played: readonly Interleaving[]): Tally {
  const tally: Record<string, Record<string, number>> = {}
  for (const { who, act, outcome } of played.flatMap(({ results }) => results)) {
    const name = `${who} ${act}`
    const counts = tally[name] ?? {}
    counts[outcome] = (counts[outcome] ?? 0) + 1
    tally[name] = counts
  }
  return tally
}
