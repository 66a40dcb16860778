import { resolve } from 'node:path'
import type { Knex } from 'knex'
import { checkBooks } from '../../src/ledger/invariants.js'
import { createDb } from '../../src/platform/database/database.js'
import { type Ground, openGround } from '../bench/ground.js'
import { say } from '../bootstrap/progress.mjs'
import { type Fiat, startFiat } from '../sandbox/fiat.js'
import { raceForBalance } from './full-balance.js'
import { fundedCustomer } from './funded-customer.js'
import { loseCommits } from './lost-commits.js'
import { serviceSettings } from './settings.js'

const web = 'dist/src/web.js'
const failPoints = resolve('dist/scripts/faults/fail-points.js')
const rounds = 20
const requests = 500
const tries = 200
const balanceUsdc = 1000
const balanceMicro = BigInt(balanceUsdc) * 1_000_000n

/** What both stand on: web processes alone, so that nothing is sent and every hold stays. */
interface Stage {
  readonly db: Knex
  serve(args: readonly string[], env?: Record<string, string>): Promise<string>
}

/** `npm run faults -- balance`: 500 withdrawals of the whole balance at once, 20 rounds. Returns the exit code. */
export function runBalance(): Promise<number> {
  return onStage(async ({ db, serve }) => {
    const urls = [await serve([web]), await serve([web])]
    const others: Record<string, number> = {}
    let faults = 0
    for (let round = 1; round <= rounds; round++) {
      const { cookie } = await fundedCustomer(db, urls[0] ?? '', balanceMicro)
      const result = await raceForBalance(urls, cookie, balanceUsdc, requests)
      for (const [told, count] of Object.entries(result.others)) others[told] = (others[told] ?? 0) + count
      const clean = result.won === 1 && result.others['400 Insufficient Balance'] === requests - 1
      if (!clean) faults += 1
      say(`round ${round} of ${rounds}: ${result.won} succeeded, ${JSON.stringify(result.others)}`)
    }
    return conclude(db, faults, `${rounds} rounds of ${requests}; the others heard ${JSON.stringify(others)}`)
  })
}

/** `npm run faults -- commits`: 200 withdrawals whose COMMIT is not answered. Returns the exit code. */
export function runCommits(): Promise<number> {
  return onStage(async ({ db, serve }) => {
    const losing = { FAIL_AT: 'before COMMIT', FAIL_HOW: 'cut' }
    const customer = await fundedCustomer(db, await serve([web]), balanceMicro)
    const url = await serve(['--import', failPoints, web], losing)
    const { first, faults } = await loseCommits(db, url, customer, tries, say)
    for (const fault of faults) say(fault)
    return conclude(db, faults.length, `${tries} commits lost; first answers ${JSON.stringify(first)}`)
  })
}

async function onStage(work: (stage: Stage) => Promise<number>): Promise<number> {
  const ground = await openGround('.data/faults')
  const db = createDb(ground.databaseUrl, 2)
  const fiat = await startFiat()
  try {
    return await work({ db, serve: (args, env = {}) => serveOn(ground, fiat, args, env) })
  } finally {
    await ground.close()
    await fiat.close()
    await db.destroy()
  }
}

function serveOn(
  ground: Ground,
  fiat: Fiat,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const settings = serviceSettings({ ...ground, namespace: 'races' }, fiat, 0, true)
  const quiet = { LOG_LEVEL: 'error', WITHDRAW_WAIT_MS: '0' }
  return ground.serve('web', args, { ...settings, ...quiet, ...env })
}

async function conclude(db: Knex, faults: number, text: string): Promise<number> {
  const { holds } = await checkBooks(db)
  process.stdout.write(`${text}\n${faults} faults, the books ${holds ? 'hold' : 'ARE BROKEN'}\n`)
  return faults === 0 && holds ? 0 : 1
}
