import type { ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import { roleOf, urlOfRole } from '../../../scripts/database/roles-sql.js'
import type { RoleKind } from '../../../scripts/database/table-rights.js'
import { patient } from '../../../scripts/kit/patient-pool.js'
import { type Composed, compose } from '../../../src/compose.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { createDb } from '../../../src/platform/database/database.js'
import { readsOf } from '../../../src/platform/database/read-pool.js'

/** The settings with the database role of this kind of process. */
export function settingsOf<Env extends Readonly<Record<string, string>>>(env: Env, kind: RoleKind): Env {
  const { DATABASE_URL: url } = env
  return url && URL.canParse(url) ? { ...env, DATABASE_URL: urlOfRole(url, kind) } : env
}

/** The services of a process of this kind, with these settings. The caller closes them. */
export function composeAs(kind: RoleKind, env: Readonly<Record<string, string>>): Composed {
  const services = compose(loadConfig(settingsOf(env, kind)), kind)
  return {
    ...services,
    async close() {
      await Promise.all([...(poolsBeside.get(services.db)?.values() ?? [])].map((pool) => pool.destroy()))
      await services.close()
    },
  }
}

export function openPool(url: string, prepared: boolean, size = 10): Knex {
  return patient(createDb(url, size, undefined, prepared))
}

/** A pool of the owner of the tables, for a database that a test has made. */
export function openOwnersPool(t: ExecutionContext, env: Readonly<Record<string, string>>): Knex {
  const { url, prepared } = loadConfig(env).database
  const pool = openPool(url, prepared)
  t.teardown(() => pool.destroy())
  return pool
}

type Roles = Pick<Composed, 'config' | 'db' | 'transactOn'>

/** The pools of other roles beside the pool of an app in this thread, found by each of them. */
const poolsBeside = new WeakMap<Knex, Map<RoleKind, Knex>>()

/** The same services with the database role of another kind of process. A role has one pool, opened at its first statement. */
export function as<Given extends Roles>(kind: RoleKind, services: Given): Given {
  const { url, pool, prepared } = services.config.database
  const pools = poolsBeside.get(services.db) ?? new Map<RoleKind, Knex>()
  poolsBeside.set(services.db, pools)
  if (new URL(url).username === roleOf(kind) || pools.get(kind) === services.db) return services
  const db = pools.get(kind) ?? openPool(urlOfRole(url, kind), prepared, pool)
  pools.set(kind, db)
  poolsBeside.set(db, pools)
  return { ...services, db, transact: services.transactOn(db), reads: readsOf(db) }
}
