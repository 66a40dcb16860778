import type { Knex } from 'knex'
import { type Config, loadConfig } from '../../src/platform/config/config.js'
import { createDb, query, serverLimits } from '../../src/platform/database/database.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import type { Defer } from '../kit/closing.js'
import { serviceSettings } from '../kit/service-settings.js'
import type { Chance } from './chance.js'
import { Clock, replaceClocks } from './clocks.js'
import { type Databases, openControl } from './database.js'
import { type Odds, Turns } from './turns.js'

/** So many that no statement waits for one: other processes would have to take turns meanwhile. */
const connections = 60
/** Limits of the pool and of its connections are in real time, and what they end would differ from run to run. */
const neverMs = 24 * 3_600_000

export interface Stage {
  readonly db: Knex
  readonly clock: Clock
  readonly turns: Turns
  readonly config: Config
  /** Ids of users. */
  readonly creators: readonly string[]
}

/** A new database with so many creators in it; the clocks, the random numbers and the turns of a run. */
export async function openStage(
  databases: Databases,
  given: {
    readonly seed: number
    readonly chance: Chance
    readonly odds: Odds
    readonly settings: Readonly<Record<string, string>>
    readonly creators: number
  },
  defer: Defer,
): Promise<Stage> {
  const { url, drop } = await databases.create()
  defer(drop)
  const control = await openControl(url)
  defer(() => control.end())
  const db = createDb(url, connections)
  const waits = ['idleTimeoutMillis', 'createTimeoutMillis', 'acquireTimeoutMillis']
  for (const wait of waits) db.client.pool[wait] = neverMs
  for (const limit of [...Object.keys(serverLimits), 'query_timeout'])
    db.client.connectionSettings[limit] = neverMs
  defer(() => void db.destroy().catch(() => undefined))
  const clock = new Clock()
  const turns = new Turns(clock, given.chance, given.odds, control)
  // Node carries every storage that is in use along with every promise: those of earlier runs would slow this one.
  defer(() => turns.inside.disable())
  defer(replaceClocks(clock, given.seed, turns.inside))
  defer(turns.watchStatements())
  turns.watchPool(db)
  const config = loadConfig({
    ...serviceSettings({ databaseUrl: url, redisUrl: 'redis://127.0.0.1:1' }),
    WITHDRAW_WAIT_MS: '0',
    ...given.settings,
  })
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
    values: [given.creators],
  })
  return { db, clock, turns, config, creators: users.map(({ id }) => id) }
}
