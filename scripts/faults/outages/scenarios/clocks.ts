import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { opsProgram } from '../../../bootstrap/ops.mjs'
import { startMigratedPostgres } from '../../servers/postgres.js'
import { startRedis } from '../redis.js'
import type { Disturbance, Run, Scenario } from '../scenario.js'
import { signInByCode } from '../sign-in.js'

const webs = ['web-0', 'web-1'] as const
const workers = ['verifier', 'settlement', 'payouts', 'custodian'] as const
const processes = [...webs, ...workers]
const module = resolve('dist/scripts/faults/servers/clock-shift.js')
const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Shorter than the clocks are wrong. */
const expiryMinutes = 5
const acts = 40
const stepMs = 700
/** Until every process has read its clock. */
const readMs = 500

/** The wall clocks of single processes are wrong, step while they run, and go backwards. PostgreSQL's is right. */
export const clocks: Scenario = async ({ folder }) => {
  const postgres = await startMigratedPostgres(folder)
  const redis = await startRedis(folder)
  const fileOf = (name: string): string => join(folder, `clock-${name}`)
  const shift = (name: string, ms: number): void => writeFileSync(fileOf(name), String(Math.round(ms)))
  const shiftSettings = (name: string): Record<string, string> => ({
    NODE_OPTIONS: `--import ${module}`,
    CLOCK_SHIFT_FILE: fileOf(name),
  })
  for (const name of processes) shift(name, 0)

  /** Clients tip, withdraw and sign in while clocks are wrong. Then they step back. */
  async function whileWrong(run: Run, shifts: Readonly<Record<string, number>>): Promise<void> {
    for (const [name, ms] of Object.entries(shifts)) shift(name, ms)
    await sleep(readMs)
    await run.untilDone(acts / 2)
    for (const creator of run.stage.creators.slice(0, 2)) await signInByCode(run, creator)
    await run.untilDone(acts / 2)
    for (const name of Object.keys(shifts)) shift(name, 0)
    await sleep(readMs)
  }
  const wrong = (what: string, names: readonly string[], ms: number): Disturbance => ({
    name: what,
    async act(run, draw) {
      await whileWrong(run, { [draw.one(names) ?? '']: ms })
    },
  })
  const all: Disturbance = {
    name: 'every process has another clock, up to an hour wrong',
    async act(run, draw) {
      const shifts = processes.map((name) => [name, (2 * draw.next() - 1) * hourMs] as const)
      await whileWrong(run, Object.fromEntries(shifts))
    },
  }
  const steps: Disturbance = {
    name: 'the clock of a process steps forwards and backwards',
    async act(run, draw) {
      const name = draw.one(processes) ?? ''
      for (let n = 0; n < 10; n++) {
        shift(name, (n % 2 === 0 ? 1 : -1) * draw.next() * hourMs)
        await sleep(stepMs)
      }
      await whileWrong(run, { [name]: -hourMs })
    },
  }
  return {
    servers: { databaseUrl: postgres.databaseUrl, redisUrl: redis.url },
    env: () => ({ FIAT_EXPIRY_MINUTES: String(expiryMinutes) }),
    envOf: shiftSettings,
    disturbances: [
      wrong('a web process is 10 minutes ahead', webs, 10 * minuteMs),
      wrong('a web process is 10 minutes behind', webs, -10 * minuteMs),
      wrong('a worker is an hour ahead', workers, hourMs),
      wrong('a worker is an hour behind', workers, -hourMs),
      all,
      steps,
    ],
    async check(run) {
      return [
        ...(await intentFaults(run)),
        ...clockFaults(run),
        ...(await namesSkew(run, 10 * minuteMs)),
        ...(await namesSkew(run, -10 * minuteMs)),
        ...(await comparesWell(run, hourMs)),
        ...(await comparesWell(run, -hourMs)),
      ]
    },
    async close() {
      await redis.stop()
      await postgres.stop()
    },
  }

  /** Runs an operators' command on a machine whose clock is wrong. */
  function operate(
    { stage }: Run,
    ms: number,
    name: string,
    ...args: string[]
  ): Promise<{ code: number; out: string }> {
    shift('operator', ms)
    const env = { PATH: process.env['PATH'], ...stage.env, ...shiftSettings('operator') }
    return new Promise((done) => {
      execFile(process.execPath, [resolve(opsProgram(name)), ...args], { env }, (error, out, err) =>
        done({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` }),
      )
    })
  }
  async function namesSkew(run: Run, ms: number): Promise<string[]> {
    const { code, out } = await operate(run, ms, 'doctor')
    const is = ms > 0 ? 'behind' : 'ahead of'
    const isNamed = new RegExp(`WRONG.*clock of the database.*\\d+\\.\\d s ${is} this machine`).test(out)
    return code === 4 && isNamed ? [] : [`doctor does not name a clock that is wrong by ${ms} ms: ${out}`]
  }
  /** What has just happened is no difference, and nothing of it is left out. */
  async function comparesWell(run: Run, ms: number): Promise<string[]> {
    const transfers = await operate(run, ms, 'payouts', 'compare')
    const collections = await operate(run, ms, 'disputes', '--compare')
    return [transfers, collections].flatMap(({ code, out }) =>
      code === 0 ? [] : [`a comparison with a clock that is wrong by ${ms} ms: exit code ${code}: ${out}`],
    )
  }
}

/** Each naira intent lives as long as the setting says, and none that was paid in time counts as late. */
async function intentFaults({ stage: { db } }: Run): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string; minutes: number; late: boolean }[] }>(
    `select id, extract(epoch from expires_at - created_at)::float8 / 60 as minutes, metadata ? 'paidLate' as late
     from fiat_intents`.replaceAll('?', '\\?'),
  )
  const isRight = ({ minutes, late }: { minutes: number; late: boolean }): boolean =>
    !late && Math.abs(minutes - expiryMinutes) < 1
  return rows
    .filter((row) => !isRight(row))
    .map(
      ({ id, minutes, late }) =>
        `${id} lives ${minutes.toFixed(1)} minutes${late ? ', and was paid late' : ''}`,
    )
}

/** Nobody missed the clock process, whose heartbeat goes by the database's clock. */
function clockFaults({ stage: { logs } }: Run): string[] {
  return readdirSync(logs)
    .filter((name) => name.endsWith('.log'))
    .filter((name) => readFileSync(join(logs, name), 'utf8').includes('no clock is running'))
    .map((name) => `${name} says that no clock is running`)
}
