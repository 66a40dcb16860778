import { loadConfig } from '../../../../src/platform/config/config.js'
import { loadDatabase } from '../../../../src/platform/config/own-settings.js'
import { secretsOf, withoutOtherSecrets } from '../../../../src/platform/config/process-secrets.js'
import { checkSettings } from '../../../../src/platform/config/start-settings.js'
import { createDb } from '../../../../src/platform/database/database.js'
import { settingsReaders } from '../../../../workers/registry.js'
import { databaseSetting, deployedProcesses, scrapeTargets } from '../../../deploy/processes.js'
import { type Check, check, type Finding, findingsOr } from './check.js'
import { findLimits, findRights, kindOf, readServer, type Server } from './database.js'

const timeoutMs = 3000

type Name = (typeof deployedProcesses)[number]

/**
 * Compares what each process will get with the world: its own settings alone, a login with its own DATABASE_URL, perhaps through a
 * pooler, the limits and rights of that role, and the port of its metrics. `env`: the file with the settings of all, with
 * DATABASE_URL_WEB and so on.
 */
export async function checkDeployed(env: NodeJS.ProcessEnv, webProcesses: number): Promise<readonly Check[]> {
  const logins: Login[] = []
  const found: Check[] = []
  for (const name of deployedProcesses) {
    found.push(...(await check(`settings of ${name}`, async () => findSettings(name, env))))
    found.push(...(await check(`login of ${name}`, () => findLogin(name, env, logins))))
  }
  found.push(...(await check('pool sums', async () => findPools(logins))))
  const targets = scrapeTargets(deployedProcesses, webProcesses)
  found.push(...(await check('scrape targets', () => findTargets(targets))))
  return found
}

const ownEnv = (name: Name, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  withoutOtherSecrets(
    { ...env, DATABASE_URL: env[databaseSetting(name)] || env['DATABASE_URL'] },
    secretsOf[name],
  )

/** Throws ConfigError with every fault. */
function findSettings(name: Name, env: NodeJS.ProcessEnv): Finding {
  const readers =
    name === 'web'
      ? [(own: NodeJS.ProcessEnv) => loadConfig(own, secretsOf.web)]
      : settingsReaders(name === 'custodian' ? ['custodian', 'take-outs'] : [name])
  checkSettings(readers, ownEnv(name, env))
  return ['ok', `${name} starts with its own secrets alone`]
}

interface Login {
  readonly server: Server
  readonly prepared: boolean
}

async function findLogin(name: Name, env: NodeJS.ProcessEnv, logins: Login[]): Promise<readonly Finding[]> {
  const { url, prepared } = loadDatabase(ownEnv(name, env))
  const db = createDb(url, 1, undefined, prepared)
  try {
    const server = await readServer(db)
    logins.push({ server, prepared })
    const kind = await kindOf(db, server.role)
    if (kind === undefined)
      return [['warning', `${server.role} is not the role of this process: set ${databaseSetting(name)}`]]
    if (kind !== name) return [['wrong', `${server.role} is the role of another process`]]
    const findings = [await findRights(db, server.role), ...(prepared ? [] : [findLimits(server)])]
    const limits = `statement_timeout ${server.statement}, lock_timeout ${server.lock}`
    const ok = `${server.role} has its rights and limits (${limits})`
    return findingsOr(ok, ...findings.filter(([one]) => one !== 'ok'))
  } finally {
    await db.destroy()
  }
}

/** A pooler opens `default_pool_size` connections for each user and database. */
function findPools(logins: readonly Login[]): Finding {
  const [first] = logins
  if (first === undefined) return ['skipped', 'nobody could log in']
  if (first.prepared) return ['skipped', 'no pgbouncer=true in the URL: the line `connections` counts them']
  const users = new Set(logins.map(({ server }) => server.role)).size
  const { maxConnections, reserved, others } = first.server
  const free = maxConnections - reserved - others
  return [
    'ok',
    `${users} users share the ${free} connections that PostgreSQL has for them: default_pool_size, which counts for each user, at most ${Math.floor(free / users)}`,
  ]
}

async function findTargets(targets: readonly [name: string, port: number][]): Promise<Finding> {
  const signal = AbortSignal.timeout(timeoutMs)
  const silent = await Promise.all(
    targets.map(async ([name, port]) => {
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).catch(() => undefined)
      return answer?.status === 200 ? [] : [`${name} (${port})`]
    }),
  )
  const all = `${targets.length} of scripts/deploy/monitoring/prometheus.yml`
  const names = silent.flat().sort().join(', ')
  if (names === '') return ['ok', `${all}, and all answer`]
  return ['warning', `${all}; these do not answer here: ${names}`]
}
