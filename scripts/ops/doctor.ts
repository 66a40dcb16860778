import { compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config/config.js'
import {
  loadMail,
  loadOperators,
  loadReportSigningKey,
  loadWalletKeys,
} from '../../src/platform/config/own-settings.js'
import { ConfigError, type SettingFault } from '../../src/platform/config/read-settings.js'
import { allSecrets, type Secret } from '../../src/platform/config/secrets.js'
import { checkSettings, type SettingsReader } from '../../src/platform/config/start-settings.js'
import { defineCommand, exitHelp, type Outcome, runAsProgram, UsageError } from './support/command.js'
import type { Check } from './support/doctor/check.js'
import { checkDatabase } from './support/doctor/database.js'
import { checkDataKeys, checkPeppers, checkWalletKeys } from './support/doctor/keys.js'
import { checkOutside } from './support/doctor/outside.js'
import { checkRedis } from './support/doctor/redis.js'

/** Compares the settings with the live world: database, Redis, chain, providers, keys, clocks. Changes nothing. */
const help = `npm run ops -- doctor [--web <n>] [--json]

Asks everything that the settings name whether it is there and as it should be: the database with its schema, rights and
connections, Redis, the Solana RPC endpoints and their chain, the treasury's accounts, prices, rates, the swap engines, the naira
provider and its keys, the mail server, the keys of wallets and personal data, and the clocks. It changes nothing and moves no money.

Run it with the settings of all processes together, or with those of one: what needs a secret that is not set is skipped.

  --web <n>   web processes that will run; default 1. Of the workers one each
  --json      print one line of JSON
  --help      print this text

Exit code 4: something is wrong. Warnings do not count.
${exitHelp}`

const mostWebProcesses = 10_000
const width = 24
const marks = { ok: 'ok', warning: 'warning', wrong: 'WRONG', skipped: 'skipped' } as const

export const command = defineCommand({
  help,
  options: { web: { type: 'string' } },
  async run({ web = '1' }) {
    const webProcesses = Number(web)
    if (!/^\d+$/.test(web) || webProcesses < 1 || webProcesses > mostWebProcesses)
      throw new UsageError(`--web takes a number from 1 to ${mostWebProcesses}`)
    const faults = faultsOf(process.env)
    return present(faults.length > 0 ? faults : await checkAll(webProcesses))
  },
})

async function checkAll(webProcesses: number): Promise<readonly Check[]> {
  const config = loadSet({ ...process.env, LOG_LEVEL: 'silent' })
  const services = compose(config, 'ops')
  try {
    const [database, redis, keys, dataKeys, outside] = await Promise.all([
      checkDatabase(services.db, config, webProcesses),
      checkRedis(config),
      checkWalletKeys(services.db),
      checkDataKeys(services.db, config),
      checkOutside(services),
    ])
    const settings: Check = { name: 'settings', state: 'ok', text: 'complete, and none is faulty' }
    return [settings, ...database, ...redis, ...keys, ...dataKeys, ...checkPeppers(config), ...outside]
  } finally {
    await services.close()
  }
}

const isSet = (env: NodeJS.ProcessEnv, name: string): boolean => Boolean(env[name]?.trim())

/** The settings, with those secrets that are set. */
function loadSet(env: NodeJS.ProcessEnv) {
  const needed: readonly Secret[] = ['DATABASE_URL', 'REDIS_URL']
  return loadConfig(
    env,
    allSecrets.filter((secret) => needed.includes(secret) || isSet(env, secret)),
  )
}

/** Every fault of the settings that are set, also of those that only one process reads. */
function faultsOf(env: NodeJS.ProcessEnv): readonly Check[] {
  const own: readonly (readonly [setting: string, reader: SettingsReader])[] = [
    ['WALLET_KEK', loadWalletKeys],
    ['REPORT_SIGNING_KEY', loadReportSigningKey],
    ['SMTP_URL', loadMail],
    ['OPS_PORT', loadOperators],
  ]
  const readers = [loadSet, ...own.flatMap(([setting, reader]) => (isSet(env, setting) ? [reader] : []))]
  try {
    checkSettings(readers, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map(({ setting, message }: SettingFault) => ({
      name: 'settings',
      state: 'wrong',
      text: `${setting} ${message}`,
    }))
  }
}

function present(checks: readonly Check[]): Outcome {
  const count = (state: Check['state']): number => checks.filter((one) => one.state === state).length
  const [wrong, warnings] = [count('wrong'), count('warning')]
  const lines = checks.map(({ name, state, text }) => `${marks[state].padEnd(9)}${name.padEnd(width)}${text}`)
  const end = wrong === 0 ? 'nothing is wrong' : `wrong: ${wrong}`
  return {
    ok: wrong === 0,
    text: [...lines, '', `${end}; warnings: ${warnings}`].join('\n'),
    json: { wrong, warnings, checks },
  }
}

await runAsProgram(import.meta, command)
