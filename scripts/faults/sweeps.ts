import { setTimeout as sleep } from 'node:timers/promises'
import { usdc } from '../../src/kernel/tokens.js'
import { readCustody, unboundOf } from '../../src/ledger/custody.js'
import { query } from '../../src/platform/database/database.js'
import { opsProgram } from '../bootstrap/ops.mjs'
import type { Draw } from '../kit/draw.js'
import { quickCommits, startServers } from '../kit/servers.js'
import { brokenConnection, mildRefusals } from './world/client-notes.js'
import { usdcOf } from './world/compare-moves.js'
import { sweep } from './world/operator.js'
import { createPayer } from './world/people.js'
import type { OpenScenario, Run } from './world/run-scenario.js'
import { settle } from './world/settle.js'
import type { Stage, WorkerGroup } from './world/stage.js'

const killsPerRound = 25
const workers: readonly WorkerGroup[] = [
  { names: ['custodian', 'take-outs'], roles: ['custodian'] },
  { names: ['custodian', 'take-outs'], roles: ['custodian'] },
  { names: ['verifier', 'finder', 'settlement', 'payouts', 'reconciler', 'provisioner', 'mailer', 'clock'] },
]
/** One person sweeps twice with one key, and one with another. */
const sweepers = 3
const sweepLateMs = 20_000
/** Past the last valid height of everything that is signed. */
const slotsToExpiry = 200
const chainMs = 400
/** Longer than SWEEP_AFTER_HOURS. */
const sweepAfterMs = 2000
/** Less than this is not swept. */
const leastMicro = 10_000n

/**
 * Custodians, sweep commands and the web process are killed at named points while tips arrive, creators are paid and take USDC out, the
 * chain drops transactions and its clock jumps past their last valid height, the endpoint answers garbage, and browsers are closed.
 */
export function sweeps(kills: number): OpenScenario {
  return async ({ folder, defer }) => {
    const rounds = Math.ceil(kills / killsPerRound)
    const below: string[] = []
    return {
      ...(await startServers(folder, defer, quickCommits)),
      stage: { webs: 1, webRoles: ['web-take-outs'], workers, slotMs: 50 },
      // Without naira, which are owed and in no custody.
      acts: { crypto: 38, withdraw: 25, take: 37 },
      inOrder: true,
      disturbances: Array.from({ length: rounds }, (_, n) => ({
        name: `kills of round ${n + 1}`,
        act: (run, draw) => storm(run, draw, Math.ceil(kills / rounds), below),
      })),
      mayAnswer: [...mildRefusals, brokenConnection],
      async end({ stage, truth }) {
        await settle(stage, truth)
        // What was paid for is swept a moment later.
        await sleep(sweepAfterMs)
        await sweep(stage)
      },
      check: async ({ stage }) => [...below, ...(await unsweptFaults(stage))],
    }
  }
}

async function storm({ stage, until }: Run, draw: Draw, kills: number, below: string[]): Promise<void> {
  const { sandbox, kills: killed } = stage
  const payers = [stage.payerFile, createPayer(sandbox, stage.logs, 'second')]
  const commands = Array.from({ length: sweepers }, (_, n) =>
    stage.addCommand(
      `sweep-${n}`,
      [opsProgram('sweep'), '--apply', '--payer', payers[n % payers.length] ?? ''],
      'sweep',
      sweepLateMs,
    ),
  )
  const victims = stage.processes.filter(({ name }) => /^(web|custodian)/.test(name))
  const last = killed.length + victims.length + kills
  for (const process of victims) process.storm(true)
  for (const command of commands) {
    command.storm(true)
    await command.start()
  }
  let misbehaving = true
  const chain = misbehave(stage, draw, () => misbehaving)
  try {
    await until('the kills', async () => {
      await lookAt(stage, draw, below)
      return killed.length >= last
    })
  } finally {
    misbehaving = false
    await chain
    await Promise.all(commands.map((command) => command.end()))
  }
  for (const process of victims) process.storm(false)
}

/** While the chain holds transactions, tips that wait may be lost; what waited when it jumps can no longer land. */
async function misbehave(
  { sandbox: { chain, faults } }: Stage,
  draw: Draw,
  goesOn: () => boolean,
): Promise<void> {
  for (; goesOn(); await sleep(chainMs * 2 * draw.next())) {
    const what = draw.kind({ garbage: 4, hold: 3, lose: 3, nothing: 5 })
    if (what === 'garbage') faults.set({ answer: 'html', times: 3 })
    if (what !== 'hold' && what !== 'lose') continue
    chain.holdLanding(true)
    await sleep(chainMs)
    if (what === 'lose') {
      chain.dropMempool()
      chain.advance(slotsToExpiry)
    }
    chain.holdLanding(false)
  }
  faults.clear()
  chain.releaseControls()
}

/** What a creator is owed must be in custody. The debt is read first: it grows only after USDC have arrived. */
async function lookAt(stage: Stage, draw: Draw, below: string[]): Promise<void> {
  const { userId, wallet } = draw.oneOf(stage.creators)
  const owed = await owedTo(stage, userId)
  if (usdcOf(stage.sandbox.chain, wallet) >= owed) return
  // A take-out may have been signed and have landed since the debt was read.
  const again = await owedTo(stage, userId)
  const held = usdcOf(stage.sandbox.chain, wallet)
  if (held < again) below.push(`creator ${userId} was owed ${again} with ${held} in custody`)
}

/** What must be in the creator's custody: the balances, without what a signed take-out may have moved already. */
async function owedTo({ db }: Stage, userId: string): Promise<bigint> {
  const [row] = await query<{ units: string }>(db, {
    name: 'faults.owed',
    text: /* sql */ `
      select (coalesce((select sum(balance) from ledger_accounts where user_id = $1 and currency = 'USDC'), 0)
        - coalesce((select sum(amount) from wallet_transfers where user_id = $1 and mint = $2 and state = 'signed'), 0))::text as units`,
    values: [userId, usdc.mint],
  })
  return BigInt(row?.units ?? 0)
}

/** At the end everything that was paid for is swept. */
async function unsweptFaults(stage: Stage): Promise<string[]> {
  const books = await readCustody(stage.db, usdc.mint)
  const owed = await Promise.all(stage.creators.map(({ userId }) => owedTo(stage, userId)))
  return stage.creators.flatMap(({ userId }, n) => {
    const book = books.find((one) => one.userId === userId)
    const left = book === undefined ? 0n : unboundOf(book) - (owed[n] ?? 0n)
    return left < leastMicro ? [] : [`creator ${userId} was not swept to the end: ${left}`]
  })
}
