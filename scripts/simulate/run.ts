import { loadConfig } from '../../src/platform/config/config.js'
import { createDb, query } from '../../src/platform/database/database.js'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { fund } from '../kit/client.js'
import { withClosing } from '../kit/closing.js'
import { serviceSettings } from '../kit/service-settings.js'
import { Chance } from './chance.js'
import { Clock, replaceClocks } from './clocks.js'
import { type Databases, openControl } from './database.js'
import { People } from './people.js'
import { brokenAtEnd, brokenNow, countOpen } from './promises.js'
import { Provider } from './provider.js'
import { tidyUp } from './tidy-up.js'
import { Turns } from './turns.js'
import { World } from './world.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** What the clock compares each day. */
const comparedDays = 2
const creatorCount = 4
const fundedMicro = 10_000n * 1_000_000n
const odds = { crash: 0.0015, freeze: 0.001, lostCommit: 0.02 }
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
    const { url, drop } = await databases.create()
    defer(drop)
    const control = await openControl(url)
    defer(() => control.end())
    const db = createDb(url, 2)
    defer(() => db.destroy())
    const clock = new Clock()
    const chance = new Chance(plan.seed, plan.without)
    const turns = new Turns(clock, chance, odds, control)
    defer(replaceClocks(clock, plan.seed, turns.inside))
    defer(turns.watchStatements())
    const provider = new Provider(turns, clock, chance, plan.deduplicates)
    const env = {
      ...serviceSettings({ databaseUrl: url, redisUrl: 'redis://127.0.0.1:1' }),
      // Some withdrawals wait for a confirmation, an identity, or both.
      CONFIRM_ACCOUNTS: 'new',
      IDENTITY_SINGLE_NGN: '25000',
      WITHDRAW_WAIT_MS: '0',
      FIATPAY_DEDUPLICATES: String(plan.deduplicates),
    }
    const config = loadConfig(env)
    await turns.setDatabaseTime()
    await openDataKeys(db, config.dataKeys)
    const users = await query<{ id: string }>(db, {
      name: 'simulate.creators',
      text: /* sql */ `
        with made as (
          insert into users (email, name, password_hash)
          select i || '@simulated.example', 'Ada Obi', 'none' from generate_series(1, $1::int) i returning id
        ), wallet as (insert into wallets (user_id) select id from made
        ), session as (
          insert into sessions (token_hash, user_id, idle_until, absolute_until)
          select sha256(id::text::bytea), id, 'infinity', 'infinity' from made)
        insert into parties (user_id) select id from made returning user_id as id`,
      values: [creatorCount],
    })
    const creators = users.map(({ id }) => id)
    for (const id of creators) await fund(db, id, fundedMicro)

    const story: string[] = []
    let kills = 0
    const tell = (text: string): void => {
      if (/ is killed /.test(text)) kills += 1
      story.push(`${new Date(clock.now).toISOString().slice(5, 19)}  ${text}`)
    }
    const world = new World({ clock, chance, turns, provider, config, metrics, databaseUrl: url, db })
    defer(() => world.close())
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
      faults = await brokenNow(db, provider, people.told)
    }
    if (faults.length === 0) {
      chance.calm = true
      turns.thaw()
      await endAll()
      faults = [
        ...(await brokenNow(db, provider, people.told)),
        ...(await brokenAtEnd(db, provider, people.told)),
      ]
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
