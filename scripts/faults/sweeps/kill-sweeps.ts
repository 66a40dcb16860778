import { setTimeout as sleep } from 'node:timers/promises'
import { seededNumber } from '../../sandbox/fiatpay/seeded-choice.js'
import type { RunPlan, ServerUrls } from '../kill-payouts.js'
import { type Kill, type RespawnedRole, RespawningProcess } from '../respawning-process.js'
import { usdcOf } from './compare-moves.js'
import { compareSweeps, type SweepComparison } from './compare-sweeps.js'
import {
  type CustodyCreator,
  type CustodyWorld,
  openCustodyWorld,
  owedTo,
  pay,
  planFor,
  tip,
} from './custody-world.js'
import { makeDue } from './make-due.js'
import { StartedTakeOuts } from './start-take-outs.js'

export interface SweepRound {
  readonly round: number
  readonly kills: readonly Kill[]
  readonly comparison: SweepComparison
}

export type SweepPlan = Omit<RunPlan, 'roundFinished' | 'firstRound'> & {
  readonly roundFinished?: (result: SweepRound) => void
}

const creatorCount = 14
const takerCount = 8
/** Two custodians, one person twice with one key, and one with another; the web process in which take-outs are handed in. */
const processRoles: readonly RespawnedRole[] = [
  'custodian',
  'custodian',
  'sweep',
  'sweep',
  'sweep',
  'web-take-outs',
]
const killMs = 30_000
const endMs = 240_000
const pollMs = 100
/** Past the last valid height of everything that is signed, and past the slots until it is final. */
const slotsToExpiry = 200
const slotsPerPoll = 5
const maxActMicro = 3_000_000

/**
 * Kills custodians and sweep commands at named points while tips arrive, creators are paid, transactions are dropped and the
 * endpoint answers garbage. Then waits until nothing is left to sweep, and compares. Stops after the first round with a fault.
 */
export async function killSweeps(servers: ServerUrls, plan: SweepPlan): Promise<SweepRound[]> {
  const world = await openCustodyWorld(servers, creatorCount, takerCount)
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
  const takeOuts = new StartedTakeOuts(world, (error) => {
    failure ??= error
  })
  const act = actor(world, { seed, round, below, takeOuts })
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
    await takeOuts.allEnd()
    let comparison = await compareSweeps(world)
    await until(`everything is swept: ${JSON.stringify(comparison.faults.slice(0, 3))}`, endMs, async () => {
      if (failure !== undefined) throw failure
      if (await isUnderWay(world)) {
        await hurry(world)
        return false
      }
      comparison = await compareSweeps(world)
      return !comparison.faults.some((fault) => fault.endsWith('was not swept to the end'))
    })
    return { round, kills: killed, comparison: { ...comparison, faults: [...below, ...comparison.faults] } }
  } finally {
    await Promise.all(processes.map((process) => process.end()))
  }
}

interface ActorOptions {
  readonly seed: number
  readonly round: number
  /** Creators whose custody was below what they were owed. */
  readonly below: string[]
  readonly takeOuts: StartedTakeOuts
}

/**
 * One act of the world at a time: a tip, a payment, the beginning of a take-out, or a fault of the chain; before it, a look at one
 * creator's custody.
 */
function actor(world: CustodyWorld, { seed, round, below, takeOuts }: ActorOptions): () => Promise<void> {
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
    const most = owed < micro ? owed : micro
    const choice = number('act')
    if (choice > 0.8) chain.misbehave((choice - 0.8) / 0.2)
    else if (choice > 0.4) await moveOut(world, creator, most, choice > 0.6 ? takeOuts : undefined)
    else if (!chain.isHolding()) await tip(world, creator, micro)
  }
  /** A creator with a wallet takes out, every second time; others are paid. */
  async function moveOut(
    world: CustodyWorld,
    creator: CustodyCreator,
    micro: bigint,
    started: StartedTakeOuts | undefined,
  ): Promise<void> {
    if (started === undefined || creator.holder === undefined) return payAndPlan(world, creator, micro)
    started.start(creator, micro, number('submitting'))
  }
}

async function payAndPlan(world: CustodyWorld, creator: CustodyCreator, micro: bigint): Promise<void> {
  // A take-out may hold it meanwhile.
  const refused = (error: unknown): void => {
    if (creator.holder === undefined) throw error
  }
  if (micro > 0n) await pay(world, creator, micro).catch(refused)
  // The endpoint may answer garbage.
  await planFor(world, creator).catch(() => undefined)
}

/** What a creator is owed, which must be in custody. The debt is read first: it grows only after USDC have arrived. */
async function lookAt(
  world: CustodyWorld,
  { userId, wallet }: CustodyCreator,
  below: string[],
): Promise<bigint> {
  const chain = world.sandbox.chain
  const owed = await owedTo(world, userId)
  if (usdcOf(chain, wallet) >= owed) return owed
  // A take-out may have been signed and have landed since the debt was read.
  const again = await owedTo(world, userId)
  const held = usdcOf(chain, wallet)
  if (held < again) below.push(`creator ${userId} was owed ${again} with ${held} in custody`)
  return again
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

async function isUnderWay({ services: { db } }: CustodyWorld): Promise<boolean> {
  const sweep = await db('sweeps').whereNull('ended_at').first('id')
  const takeOut = await db('wallet_transfers').whereNull('ended_at').first('id')
  return sweep !== undefined || takeOut !== undefined
}

/** Slots pass, so that what was never submitted expires, and the leases of killed custodians end. */
async function hurry({ services: { db }, sandbox: { chain } }: CustodyWorld): Promise<void> {
  chain.advance(slotsPerPoll)
  for (const table of ['sweeps', 'wallet_transfers']) await makeDue(db, table, 'ended_at is null')
}

async function until(what: string, ms: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`"${what}" took more than ${ms} ms`)
    await sleep(pollMs)
  }
}
