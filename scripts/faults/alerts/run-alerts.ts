import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { waitUntil } from '../../dev/wait-until.js'
import { causes } from './causes/all.js'
import type { Cause } from './causes/cause.js'
import { openScene } from './open-scene.js'
import { needPrometheus } from './prometheus.js'
import { judge, type Observation, ruleNames, type Verdict } from './rules.js'
import type { Scene } from './scene.js'
import type { Scrape } from './scrape.js'

const seenMs = 100_000
const reportMs = 12_000
const minuteMs = 60_000
const freshSeconds = 30

/** `npm run faults -- alerts`: every alert by its cause. Returns the exit code. */
export async function runAlertsCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args: [...args], options: { seed: text, only: text } })
  const seed = whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const only = values.only?.split(',')
  if (only?.some((name) => !ruleNames.includes(name)))
    throw new Refusal('--only: alerts of rules.yml, separated by commas')
  needPrometheus()
  const chosen = causes.filter(({ fires }) => only === undefined || fires.some((name) => only.includes(name)))
  printProgress(`seed ${seed}: ${chosen.length} causes`)
  const folder = mkdtempSync(join(tmpdir(), 'tipping-alerts-'))
  const { scene, close } = await openScene(folder, seed)
  try {
    const { judged, faults } = await makeAll(scene, folder, chosen)
    const fired = new Set(judged.flatMap(({ cause, verdict }) => fitting(cause, verdict)))
    const unfired = only === undefined ? ruleNames.filter((name) => !fired.has(name)) : []
    const all = [...faults, ...judged.flatMap(faultsOf), ...unfired.map((name) => `${name} never fired`)]
    const verdict =
      all.length === 0 ? ['each fired by its cause, no other did, and all were silent before'] : all
    process.stdout.write(
      [
        `seed ${seed}: ${fired.size} of ${ruleNames.length} alerts fired, by ${judged.length} causes`,
        ...verdict,
        '',
      ].join('\n'),
    )
    return all.length === 0 ? 0 : 1
  } finally {
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Judged {
  readonly cause: Cause
  readonly verdict: Verdict
}

/** Makes one cause after the other, and asks the rules. One that cannot be made is a fault. */
async function makeAll(
  scene: Scene,
  folder: string,
  chosen: readonly Cause[],
): Promise<{ readonly judged: readonly Judged[]; readonly faults: readonly string[] }> {
  const judged: Judged[] = []
  const faults: string[] = []
  let doing = ''
  const beat = setInterval(() => printProgress(doing), reportMs)
  try {
    for (const cause of chosen) {
      doing = cause.name
      try {
        const verdict = await judge(folder, await observe(scene, cause))
        judged.push({ cause, verdict })
        printProgress(`${cause.name}: ${verdict.during.join(', ') || 'nothing fired'}`)
        for (const fault of faultsOf({ cause, verdict })) printProgress(fault)
      } catch (error) {
        const fault = `${cause.name}: ${error instanceof Error ? error.message : error}`
        faults.push(fault)
        printProgress(`not made: ${fault}`)
      }
    }
  } finally {
    clearInterval(beat)
  }
  return { judged, faults }
}

function fitting({ fires }: Cause, { during }: Verdict): string[] {
  return fires.filter((name) => during.includes(name))
}

function faultsOf({ cause, verdict }: Judged): string[] {
  const { name, fires, mayFire = [] } = cause
  const missing = fires.filter((one) => !verdict.during.includes(one))
  const further = verdict.during.filter((one) => ![...fires, ...mayFire].includes(one))
  return [
    ...missing.map((one) => `${name}: ${one} did not fire`),
    ...further.map((one) => `${name}: ${one} fired too`),
    ...verdict.before.map((one) => `before ${name}: ${one} fired`),
  ]
}

/** Reads the metrics before and while the cause is there, and puts it right. */
async function observe(scene: Scene, cause: Cause): Promise<Observation> {
  await scene.until('every process is up', async () => (await scene.scrape()).min('up') === 1)
  await cause.prepare?.(scene)
  let before = await scene.scrape()
  await scene.measureAgain(['state'])
  await scene.until('the state is measured', async () => {
    before = await scene.scrape()
    return before.min('up') === 1 && before.max('tipping_state_age_seconds') < freshSeconds
  })
  const startedAt = performance.now()
  const putRight = await cause.make(scene)
  try {
    const seen = cause.seen ?? ((now: Scrape) => cause.fires.every((kind) => now.alerts(kind, before) > 0))
    const staysUp = !cause.fires.includes('process_down')
    let during = await scene.scrape()
    const shown = await waitUntil(async () => {
      during = await scene.scrape()
      return (!staysUp || during.min('up') === 1) && seen(during, before)
    }, seenMs)
    if (!shown) throw new Error('the metrics do not show it')
    const minutes = Math.max(1, (performance.now() - startedAt) / minuteMs)
    return { before, during, perMinute: cause.lasts === true ? 1 / minutes : 0 }
  } finally {
    await putRight()
  }
}

function whole(name: string, given: string): number {
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
