import { query } from '../../src/platform/database/database.js'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'
import { fund } from '../kit/client.js'
import { withClosing } from '../kit/closing.js'
import { Chance } from './chance.js'
import type { Databases } from './database.js'
import { People } from './people.js'
import { brokenAtEnd, brokenNow, countOpen } from './promises.js'
import { Provider } from './provider.js'
import { openStage } from './stage.js'
import { tidyUp } from './tidy-up.js'
import { World } from './world.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** What the clock compares each day. */
const comparedDays = 2
const creatorCount = 4
const fundedMicro = 10_000n * 1_000_000n
const odds = { crash: 0.0015, freeze: 0.001, lostCommit: 0.02, answerMs: { least: 20, most: 900 } }
/** Books and holds are looked at so often, once so many turns have been taken since. */
const checkMs = 900_000
const checkTurns = 300
/** After the last mishap operators work for so long at most, and look so often at what is open. */
const calmHours = 120
const lookHours = 2
const metrics = createMetrics()

export interface Plan {
  readonly seed: number
  readonly hours: number
  /** Things that people do. */
  readonly acts: number
  /** The provider refuses a used reference. */
  readonly deduplicates: boolean
  /** Mishaps that are left out, by their names. */
  readonly without?: ReadonlySet<string>
}

export interface Outcome {
  /** Broken promises. */
  readonly faults: readonly string[]
  readonly story: readonly string[]
  readonly mishaps: readonly string[]
  readonly turns: number
  readonly withdrawals: number
  readonly executed: number
  readonly kills: number
}

/** One run: everything that happens in these hours, and how it ends. */
export function simulate(databases: Databases, plan: Plan): Promise<Outcome> {
  return withClosing(async (defer) => {
    // Some withdrawals wait for a confirmation, an identity, or both.
    const settings = {
      CONFIRM_ACCOUNTS: 'new',
      IDENTITY_SINGLE_NGN: '25000',
      FIATPAY_DEDUPLICATES: String(plan.deduplicates),
    }
    const chance = new Chance(plan.seed, plan.without)
    const stage = { seed: plan.seed, chance, odds, settings, creators: creatorCount }
    const { db, clock, turns, config, creators } = await openStage(databases, stage, defer)
    const provider = new Provider(turns, clock, chance, plan.deduplicates)
    for (const id of creators) await fund(db, id, fundedMicro)

    const story: string[] = []
    let kills = 0
    const tell = (text: string): void => {
      if (/ is killed /.test(text)) kills += 1
      story.push(`${new Date(clock.now).toISOString().slice(5, 19)}  ${text}`)
    }
    const world = new World({ clock, chance, turns, provider, config, metrics, db })
    const people = new People(world, turns, chance, provider, creators)
    Object.assign(turns, { tell })
    Object.assign(provider, { tell })
    Object.assign(world, { tell })
    Object.assign(people, { tell })

    const end = clock.now + plan.hours * hourMs
    people.plan(plan.acts, plan.hours * hourMs)
    for (let ms = dayMs; ms < plan.hours * hourMs; ms += dayMs)
      turns.after(ms, () => void people.compare(comparedDays).catch(() => undefined))
    let faults: string[] = []
    let checked = 0
    while (faults.length === 0 && clock.now < end) {
      const next = Math.min(end, clock.now + checkMs)
      turns.after(next - clock.now, () => undefined)
      await turns.take(() => clock.now >= next)
      if (turns.count - checked < checkTurns) continue
      checked = turns.count
      faults = await brokenNow(db, provider)
    }
    if (faults.length === 0) {
      chance.calm = true
      turns.thaw()
      await endAll()
      faults = [...(await brokenNow(db, provider)), ...(await brokenAtEnd(db, provider, people.told))]
    }
    const executed = provider.transfers.size
    const [row] = await query<{ count: number }>(db, {
      name: 'simulate.count',
      text: 'select count(*)::int as count from withdrawals',
    })
    return {
      faults,
      story,
      mishaps: chance.mishaps,
      turns: turns.count,
      withdrawals: row?.count ?? 0,
      executed,
      kills,
    }

    /** Nothing goes wrong any more, and operators do what the runbook says until nothing is open. */
    async function endAll(): Promise<void> {
      const days = Math.ceil((plan.hours + calmHours) / 24)
      for (let hours = 0; hours < calmHours; hours += lookHours) {
        const until = clock.now + lookHours * hourMs
        let isTidy = false
        turns.after(
          0,
          () => void tidyUp({ db, turns, provider, world, people, days }).then((tidy) => (isTidy = tidy)),
        )
        turns.after(lookHours * hourMs, () => undefined)
        await turns.take(() => clock.now >= until)
        if (isTidy && turns.isEmpty && (await countOpen(db)).length === 0) return
      }
    }
  })
}
