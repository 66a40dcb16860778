import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { User } from '../../src/accounts/models.js'
import { createDb, query } from '../../src/platform/database/database.js'
import { alternateOrder, median } from './measurement.js'
import { startServers } from './servers.js'

const rounds = 9
const callsEach = 2000

/** One lookup of a user by id, and one update, through the model and as SQL. */
const ways = {
  'find, model': (db: Knex, id: string) => User.query(db).findById(id),
  'find, SQL': (db: Knex, id: string) =>
    query(db, {
      name: 'bench.find',
      text: 'select id, email, name, email_verified_at as "emailVerifiedAt" from users where id = $1',
      values: [id],
    }),
  'patch, model': (db: Knex, id: string) => User.query(db).patch({ name: 'Ada' }).findById(id),
  'patch, SQL': (db: Knex, id: string) =>
    query(db, { name: 'bench.patch', text: `update users set name = 'Ada' where id = $1`, values: [id] }),
} as const
type Way = keyof typeof ways

interface Measured {
  /** CPU of one call in this process and in PostgreSQL, in microseconds. */
  readonly own: number
  readonly database: number
}

/** `npm run bench -- models`: the CPU of one call through a model and as a prepared statement, in turns on one connection. */
export async function benchModels() {
  const servers = await startServers()
  const db = createDb(servers.databaseUrl, 1)
  try {
    const id = randomUUID()
    await servers.sql(
      `insert into users (id, email, name, password_hash) values ('${id}', 'ada@example.com', 'Ada', 'none')`,
    )
    const names = Object.keys(ways) as Way[]
    const measured: Record<string, Measured[]> = {}
    for (let round = 0; round <= rounds; round++)
      for (const name of alternateOrder(names, round)) {
        const result = await measure(() => ways[name](db, id), servers.databaseCpu)
        // The first round warms up.
        if (round > 0) measured[name] = [...(measured[name] ?? []), result]
      }
    const results = names.map((name) => ({
      way: name,
      own: median((measured[name] ?? []).map(({ own }) => own)),
      database: median((measured[name] ?? []).map(({ database }) => database)),
    }))
    const lines = results.map(
      ({ way, own, database }) =>
        `${way.padEnd(14)}${own.toFixed(0).padStart(6)}${database.toFixed(0).padStart(12)}`,
    )
    return { table: ['µs per call   process  PostgreSQL', ...lines].join('\n'), results }
  } finally {
    await db.destroy()
    await servers.close()
  }
}

async function measure(
  call: () => PromiseLike<unknown>,
  databaseCpu: () => Promise<number>,
): Promise<Measured> {
  const [ownBefore, databaseBefore] = [process.cpuUsage(), await databaseCpu()]
  for (let done = 0; done < callsEach; done++) await call()
  const { user, system } = process.cpuUsage(ownBefore)
  const database = (await databaseCpu()) - databaseBefore
  return { own: (user + system) / callsEach, database: (database * 1e6) / callsEach }
}
