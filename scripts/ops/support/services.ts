import type { Knex } from 'knex'
import { User } from '../../../src/accounts/models.js'
import { emailAddress } from '../../../src/accounts/schemas.js'
import { type Composed, compose } from '../../../src/compose.js'
import { parseUserId } from '../../../src/kernel/ids.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { loadDatabase } from '../../../src/platform/config/own-settings.js'
import { type ProcessKind, secretsOf } from '../../../src/platform/config/process-secrets.js'
import { checkSettings, type SettingsReader } from '../../../src/platform/config/start-settings.js'
import { createDb } from '../../../src/platform/database/database.js'
import { openDataKeys } from '../../../src/privacy/keys/open-data-keys.js'
import { RefusedError, UsageError } from './order.js'

/** Commands run at most two statements in parallel. */
const connections = 2

/** Runs `work` with the database, and closes its connections. `statementMs`: as for createDb. */
export async function withDatabase<Result>(
  work: (db: Knex) => Promise<Result>,
  statementMs?: number,
): Promise<Result> {
  const { url, prepared } = loadDatabase()
  const db = createDb(url, connections, statementMs, prepared)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

/**
 * Runs `work` with all services that this command has the secrets for, and closes their connections. Logs nothing: a command
 * prints one answer. `readOwnSettings`: of what is not in Config, so that one message names every fault.
 */
export async function withServices<Result>(
  command: Extract<ProcessKind, `ops ${string}`>,
  work: (services: Composed) => Promise<Result>,
  readOwnSettings: readonly SettingsReader[] = [],
): Promise<Result> {
  const load = (env: NodeJS.ProcessEnv) => loadConfig({ ...env, LOG_LEVEL: 'silent' }, secretsOf[command])
  checkSettings([load, ...readOwnSettings], process.env)
  const config = load(process.env)
  const services = compose(config, 'ops')
  try {
    if (secretsOf[command].some((secret) => secret === 'DATA_KEY'))
      // Stores no key: a wrong one in somebody's shell would keep every process from starting.
      await openDataKeys(services.db, config.dataKeys, false)
    return await work(services)
  } finally {
    await services.close()
  }
}

/** Finds the account that an option names. Throws UsageError when the text is no id and no e-mail, RefusedError when no account has it. */
export async function findUser(db: Knex, text: string | undefined, option = '--user'): Promise<User> {
  const id = text === undefined ? undefined : parseUserId(text)
  const email = emailAddress.safeParse(text).data
  if (id === undefined && email === undefined)
    throw new UsageError(`${option} needs a user id or an e-mail address`)
  const user = await User.query(db).findOne(id === undefined ? { email } : { id })
  if (user === undefined) throw new RefusedError(`there is no account ${text}`)
  return user
}
