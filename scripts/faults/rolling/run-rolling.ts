import { parseArgs } from 'node:util'
import { startServers } from '../../bench/servers.js'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { figuresOf } from './figures.js'
import { hasNginx } from './nginx.js'
import { runReleases } from './releases.js'
import { runRolling } from './rolling.js'

const text = { type: 'string' } as const
const load = {
  perSecond: 50,
  readers: 40,
  workers: [
    ['verifier', 'finder'],
    ['settlement', 'mailer', 'provisioner'],
    ['payouts', 'reconciler'],
    ['custodian', 'take-outs', 'clock'],
  ],
  report: printProgress,
}

const ownProxy = { pollMs: 1000 }

/** `npm run faults -- rolling`: restarts of every process under load. Returns the exit code. */
export async function runRollingCommand(args: readonly string[]): Promise<number> {
  const options = { rounds: text, requests: text, seed: text }
  const { values } = parseArgs({ args: [...args], options })
  const rounds = whole('--rounds', values.rounds ?? '10')
  const requests = whole('--requests', values.requests ?? '15000')
  const seed = seedFrom(values.seed)
  const router = hasNginx() ? 'nginx' : ownProxy
  printProgress(
    `seed ${seed}: ${rounds} rounds, at least ${requests} requests through ${router === 'nginx' ? 'nginx' : 'a proxy of our own, as nginx is not installed'}`,
  )
  const servers = await startServers('.data/faults')
  try {
    const { databaseUrl, redisUrl } = servers
    const urls = { databaseUrl, redisUrl, namespace: `rolling-${seed}` }
    const startedAt = Date.now()
    const result = await runRolling(urls, { ...load, router, folder: process.cwd(), seed, rounds, requests })
    const tried = `seed ${seed}: ${result.restarts} restarts in ${Math.round((Date.now() - startedAt) / 1000)} s`
    return print(tried, figuresOf(result), result.faults)
  } finally {
    await servers.close()
  }
}

/** `npm run faults -- releases`: an older release and this one side by side, forward and back. Returns the exit code. */
export async function runReleasesCommand(args: readonly string[]): Promise<number> {
  const options = { ref: text, requests: text, seed: text }
  const { values } = parseArgs({ args: [...args], options })
  const requests = whole('--requests', values.requests ?? '20000')
  const seed = seedFrom(values.seed)
  const servers = await startServers('.data/faults')
  try {
    const result = await runReleases(servers, { ...load, router: ownProxy, ref: values.ref, seed, requests })
    return print(`seed ${seed}: ${result.ref} and this release`, figuresOf(result), result.faults)
  } finally {
    await servers.close()
  }
}

function print(tried: string, figures: readonly string[], faults: readonly string[]): number {
  const verdict = faults.length === 0 ? ['no request failed, and no stream missed an event'] : faults
  process.stdout.write([tried, ...figures, ...verdict, ''].join('\n'))
  return faults.length === 0 ? 0 : 1
}

function seedFrom(given: string | undefined): number {
  return whole('--seed', given ?? String((Date.now() % 1e9) + 1))
}

function whole(name: string, given: string): number {
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
