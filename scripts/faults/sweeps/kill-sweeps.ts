import { setTimeout as sleep } from 'node:timers/promises'
import { seededNumber } from '../../sandbox/fiatpay/seeded-choice.js'
import type { RunPlan, ServerUrls } from '../kill-payouts.js'
import type { Role } from '../kill-points.js'
import { type Kill, RespawningProcess } from '../respawning-process.js'
import { compareSweeps, type SweepComparison } from './compare-sweeps.js'
import {
  type CustodyCreator,
  type CustodyWorld,
  openCustodyWorld,
  owedTo,
  pay,
  planFor,
  tip,
  usdcOf,
} from './custody-world.js'

export interface SweepRound {
  readonly round: number
  readonly kills: readonly Kill[]
  readonly comparison: SweepComparison
}

export type SweepPlan = Omit<RunPlan, 'roundFinished' | 'firstRound'> & {
  readonly roundFinished?: (result: SweepRound) => void
}

const creatorCount = 14
/** Two custodians, one person twice with one key, and one with another. */
const processRoles: readonly Role[] = ['custodian', 'custodian', 'sweep', 'sweep', 'sweep']
const killMs = 30_000
const endMs = 240_000
const pollMs = 100
/** Past the last valid height of everything that is signed, and past the slots until it is final. */
const slotsToExpiry = 200
const maxActMicro = 3_000_000

/**
 * Kills custodians and sweep commands at named points while tips arrive, creators are paid, transactions are dropped and the
 * endpoint answers garbage. Then waits until nothing is left to sweep, and compares. Stops after the first round with a fault.
 */
export async function killSweeps(servers: ServerUrls, plan: SweepPlan): Promise<SweepRound[]> {
  const world = await openCustodyWorld(servers, creatorCount)
  const results: SweepRound[] = []
  try {
    for (let round = 0; round < plan.rounds; round++) {
      const result = await runRound(world, plan, round)
      results.push(result)
      plan.roundFinished?.(result)
      if (result.comparison.faults.length > 0) break
    }
    return results
  } finally {
    await world.close()
  }
}

async function runRound(world: CustodyWorld, plan: SweepPlan, round: number): Promise<SweepRound> {
  const { seed, killsPerRound, report } = plan
  const kills: Kill[] = []
  let failure: unknown
  const processes = processRoles.map(
    (role, n) =>
      new RespawningProcess({
        role,
        number: round * processRoles.length + n,
        seed,
        env: world.env,
        args: role === 'sweep' ? [world.payers[n % world.payers.length]?.file ?? ''] : [],
        onKill: async (kill) => void kills.push(kill),
        onFailure: (error) => {
          failure ??= error
        },
      }),
  )
  const below: string[] = []
  const act = actor(world, seed, round, below)
  try {
    await until('the kills', killsPerRound * killMs, async () => {
      if (failure !== undefined) throw failure
      await act()
      return kills.length >= killsPerRound
    })
    report(`round ${round}, killed at: ${kills.map(({ role, at }) => `${role} ${at}`).join(', ')}`)
    const killed = [...kills]
    for (const process of processes) process.stopKilling()
    world.sandbox.faults.clear()
    world.sandbox.chain.releaseControls()
    let comparison = await compareSweeps(world)
    await until(`everything is swept: ${JSON.stringify(comparison.faults.slice(0, 3))}`, endMs, async () => {
      if (failure !== undefined) throw failure
      if (await isUnderWay(world)) return false
      comparison = await compareSweeps(world)
      return !comparison.faults.some((fault) => fault.endsWith('was not swept to the end'))
    })
    return { round, kills: killed, comparison: { ...comparison, faults: [...below, ...comparison.faults] } }
  } finally {
    await Promise.all(processes.map((process) => process.end()))
  }
}

/** One act of the world at a time: a tip, a payment, or a fault of the chain; before it, a look at one creator's custody. */
function actor(world: CustodyWorld, seed: number, round: number, below: string[]): () => Promise<void> {
  const { creators } = world
  const chain = chainFaults(world)
  let n = 0
  const number = (name: string): number => seededNumber(seed, name, round, n)
  return async () => {
    n += 1
    await sleep(pollMs)
    const creator = creators[Math.floor(number('creator') * creators.length)]
    if (creator === undefined) return
    const owed = await lookAt(world, creator, below)
    const micro = BigInt(1 + Math.floor(number('amount') * maxActMicro))
    const choice = number('act')
    if (choice > 0.8) chain.misbehave((choice - 0.8) / 0.2)
    else if (choice > 0.4) await payAndPlan(world, creator, owed < micro ? owed : micro)
    else if (choice <= 0.4 && !chain.isHolding()) await tip(world, creator, micro)
  }
}

async function payAndPlan(world: CustodyWorld, creator: CustodyCreator, micro: bigint): Promise<void> {
  if (micro > 0n) await pay(world, creator, micro)
  // The endpoint may answer garbage.
  await planFor(world, creator).catch(() => undefined)
}

/** What a creator is owed, which must be in custody. The debt is read first: it grows only after USDC have arrived. */
async function lookAt(
  world: CustodyWorld,
  { userId, wallet }: CustodyCreator,
  below: string[],
): Promise<bigint> {
  const owed = await owedTo(world, userId)
  const held = usdcOf(world.sandbox, wallet)
  if (held < owed) below.push(`creator ${userId} was owed ${owed} with ${held} in custody`)
  return owed
}

/** Faults of the chain, by a number from 0 to 1. While it holds transactions no tips arrive: they could be dropped too. */
function chainFaults({ sandbox: { chain, faults } }: CustodyWorld) {
  let holding = false
  return {
    isHolding: () => holding,
    misbehave(choice: number): void {
      if (choice < 0.4) {
        faults.set({ answer: 'html', times: 3 })
        return
      }
      holding = !holding
      if (!holding && choice > 0.6) {
        // What waited is lost, and after the jump it can no longer land.
        chain.dropMempool()
        chain.advance(slotsToExpiry)
      }
      chain.holdLanding(holding)
    },
  }
}

async function isUnderWay({ services }: CustodyWorld): Promise<boolean> {
  const row = await services.db('sweeps').whereNull('ended_at').first('id')
  return row !== undefined
}

async function until(what: string, ms: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`"${what}" took more than ${ms} ms`)
    await sleep(pollMs)
  }
}
