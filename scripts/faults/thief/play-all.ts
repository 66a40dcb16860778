import { setTimeout as sleep } from 'node:timers/promises'
import { sqlList } from '../../../src/kernel/state-machine.js'
import { query } from '../../../src/platform/database/database.js'
import { heldStates, openStatuses } from '../../../src/withdrawals/lifecycle.js'
import type { ServerAddresses } from '../acts/stage.js'
import { compareMoney } from '../compare-payouts.js'
import { type Interleaving, playInterleaving } from './interleaving.js'
import { fundedMicro, isThiefs } from './set-scene.js'
import { openStage, type Stage } from './stage.js'

export interface ThiefPlan {
  readonly seed: number
  /** The first interleaving, and how many. One alone repeats what it did in a longer run. */
  readonly first: number
  readonly count: number
  readonly webProcesses: number
  readonly report: (text: string) => void
}

/** What came of an act, by outcome. */
export type Tally = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface ThiefResult {
  readonly faults: readonly string[]
  /** The stories of the interleavings with a fault. */
  readonly stories: readonly string[]
  readonly tally: Tally
  /** How often the thief began with what. */
  readonly knowledge: Readonly<Record<string, number>>
  readonly withdrawals: number
  readonly executed: number
}

/** Interleavings of different accounts run at the same time; each is one story. */
const atOnce = 6
const endMs = 120_000
const pollMs = 100
const reportMs = 5000

/** Plays the interleavings, then compares all money with the payout stand-in and the ledger. Stops after the first faults. */
export async function playAll(servers: ServerAddresses, plan: ThiefPlan): Promise<ThiefResult> {
  const { seed, first, count, webProcesses, report } = plan
  const stage = await openStage(servers, { webProcesses, print: report })
  try {
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
    const { transfers } = stage.fiat.fiatpay.log()
    const toThief = new Set(transfers.map(({ accountNumber }) => accountNumber).filter(isThiefs))
    const broken = played
      .map((one) => (one.accounts.some((account) => toThief.has(account)) ? withFault(one, stolen) : one))
      .filter(({ faults }) => faults.length > 0)
    const funded = new Map(played.flatMap(({ userId }) => (userId === '' ? [] : [[userId, fundedMicro]])))
    const money = await compareMoney(stage.db, transfers, funded)
    return {
      faults: [
        ...broken.flatMap(({ index, faults }) => faults.map((fault) => `interleaving ${index}: ${fault}`)),
        ...unended,
        ...money.faults,
      ],
      stories: broken.map(
        ({ index, knowledge, story }) =>
          `interleaving ${index} (the thief has: ${knowledge})\n  ${story.join('\n  ')}`,
      ),
      tally: tallyOf(played),
      knowledge: countBy(played.map(({ knowledge }) => knowledge)),
      withdrawals: money.withdrawals,
      executed: transfers.length,
    }
  } finally {
    await stage.close()
  }
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

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
