import { resolve } from 'node:path'
import type { Knex } from 'knex'
import { checkBooks } from '../../src/ledger/invariants.js'
import { createDb } from '../../src/platform/database/database.js'
import { type Servers, startServers } from '../bench/servers.js'
import { printProgress } from '../bootstrap/progress.mjs'
import { type FiatSandbox, startFiatSandbox } from '../sandbox/fiat-sandbox.js'
import { createFundedCreator } from './client.js'
import { raceForBalance } from './full-balance.js'
import { withdrawThroughLostCommits } from './lost-commits.js'
import { serviceSettings } from './settings.js'

const web = 'dist/src/web.js'
const failPoints = resolve('dist/scripts/faults/fail-points.js')
const rounds = 20
const requests = 500
const tries = 200
const balanceUsdc = 1000
const balanceMicro = BigInt(balanceUsdc) * 1_000_000n

/** What both runs use. Only web processes run, so nothing is sent and every reserved amount stays reserved. */
interface RaceContext {
  readonly db: Knex
  serve(args: readonly string[], env?: Record<string, string>): Promise<string>
}

/** `npm run faults -- balance`: 20 rounds of 500 concurrent withdrawals of the whole balance. Returns the exit code. */
export function runBalance(): Promise<number> {
  return withServers(async ({ db, serve }) => {
    const urls = [await serve([web]), await serve([web])]
    const others: Record<string, number> = {}
    let faults = 0
    for (let round = 1; round <= rounds; round++) {
      const { cookie } = await createFundedCreator(db, urls[0] ?? '', balanceMicro)
      const result = await raceForBalance(urls, cookie, balanceUsdc, requests)
      for (const [answer, count] of Object.entries(result.others))
        others[answer] = (others[answer] ?? 0) + count
      const correct = result.succeeded === 1 && result.others['400 Insufficient Balance'] === requests - 1
      if (!correct) faults += 1
      printProgress(
        `round ${round} of ${rounds}: ${result.succeeded} succeeded; other answers: ${JSON.stringify(result.others)}`,
      )
    }
    return reportResult(
      db,
      faults,
      `${rounds} rounds of ${requests} requests; other answers: ${JSON.stringify(others)}`,
    )
  })
}

/** `npm run faults -- commits`: 200 withdrawals whose COMMIT gets no answer. Returns the exit code. */
export function runCommits(): Promise<number> {
  return withServers(async ({ db, serve }) => {
    const losing = { FAIL_AT: 'before COMMIT', FAIL_HOW: 'cut' }
    const creator = await createFundedCreator(db, await serve([web]), balanceMicro)
    const url = await serve(['--import', failPoints, web], losing)
    const { first, faults } = await withdrawThroughLostCommits(db, url, creator, tries, printProgress)
    for (const fault of faults) printProgress(fault)
    return reportResult(
      db,
      faults.length,
      `${tries} commits lost; first answers by status (0: none): ${JSON.stringify(first)}`,
    )
  })
}

async function withServers(work: (stage: RaceContext) => Promise<number>): Promise<number> {
  const servers = await startServers('.data/faults')
  const db = createDb(servers.databaseUrl, 2)
  const fiat = await startFiatSandbox()
  try {
    return await work({ db, serve: (args, env = {}) => serveOn(servers, fiat, args, env) })
  } finally {
    await servers.close()
    await fiat.close()
    await db.destroy()
  }
}

function serveOn(
  servers: Servers,
  fiat: FiatSandbox,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const settings = serviceSettings({ ...servers, namespace: 'races' }, fiat, 0, true)
  const quiet = { LOG_LEVEL: 'error', WITHDRAW_WAIT_MS: '0' }
  return servers.serve('web', args, { ...settings, ...quiet, ...env })
}

async function reportResult(db: Knex, faults: number, text: string): Promise<number> {
  const { holds } = await checkBooks(db)
  process.stdout.write(
    `${text}\n${faults} faults; the invariants of the ledger ${holds ? 'hold' : 'DO NOT HOLD'}\n`,
  )
  return faults === 0 && holds ? 0 : 1
}
