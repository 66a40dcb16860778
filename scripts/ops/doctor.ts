import { compose } from '../../src/compose.js'
import { type Config, loadConfig } from '../../src/platform/config/config.js'
import {
  loadMail,
  loadOperators,
  loadReportSigningKey,
  loadWalletKeys,
} from '../../src/platform/config/own-settings.js'
import { allSecrets, type Secret } from '../../src/platform/config/process-secrets.js'
import { ConfigError, type SettingFault } from '../../src/platform/config/read-settings.js'
import { checkSettings, type SettingsReader } from '../../src/platform/config/start-settings.js'
import { defineCommand, defineOptions, type Outcome } from './support/command.js'
import { type Check, check, type Finding, isSet } from './support/doctor/check.js'
import { checkDatabase } from './support/doctor/database.js'
import { checkDeployed } from './support/doctor/deployed.js'
import { checkDataKeys, checkPeppers, checkWalletKeys } from './support/doctor/keys.js'
import { checkOutside } from './support/doctor/outside.js'
import { checkRedis } from './support/doctor/redis.js'
import { UsageError } from './support/order.js'

/** Compares the settings with the live world: database, Redis, chain, providers, keys, clocks. Changes nothing. */
const usage = `npm run ops -- doctor [--web <n>] [--as-deployed] [--json]

Asks everything that the settings name whether it is there and as it should be: the database with its schema, rights and
connections, Redis, the Solana RPC endpoints and their chain, the treasury's accounts, prices, rates, the swap engines, the naira
provider and its keys, the mail server, the keys of wallets and personal data, and the clocks. It changes nothing and moves no money.

Run it with the settings of all processes together, or with those of one: what needs a setting that is not set is skipped. Faulty
settings are listed, and nothing is asked before they are right. Exit code 4: something is wrong. Warnings do not count.`

const mostWebProcesses = 10_000
const width = 24
const marks = { ok: 'ok', warning: 'warning', wrong: 'WRONG', skipped: 'skipped' } as const

/** Faulty settings end it: nothing can be asked with them. */
async function checkAll(webProcesses: number): Promise<readonly Check[]> {
  const faults = faultsOf(process.env)
  if (faults.length > 0)
    return faults.map(({ setting, message }) => ({
      name: 'settings',
      state: 'wrong',
      text: `${setting} ${message}`,
    }))
  const config = loadSet({ ...process.env, LOG_LEVEL: 'silent' })
  const services = compose(config, 'ops')
  const { db } = services
  try {
    const all = await Promise.all([
      check('settings', async () => ['ok', 'complete, and none is faulty']),
      check('guards', async () => findGuards(config)),
      checkDatabase(db, config, webProcesses),
      checkRedis(config),
      checkWalletKeys(db),
      checkDataKeys(db, config),
      checkPeppers(config),
      checkOutside(services),
    ])
    return all.flat()
  } finally {
    await services.close()
  }
}

/** The guards in force, and what is off: notes, because the API's contract asks for none of them. */
function findGuards({ guards, guardTable, chain, http }: Config): readonly Finding[] {
  const set = Object.entries(guardTable)
  const isOff = ([name, value]: (typeof set)[number]): boolean =>
    value === 'off' || (name === 'CARD_RESERVE_DAYS' && value === 0)
  const off = set.flatMap((one) => {
    const [name, value] = one
    if (isOff(one)) return [name]
    return [...String(value).matchAll(/([\w-]+):off/g)].map(([, limit]) => `${name} ${limit}`)
  })
  const inForce = set.filter((one) => !isOff(one)).map(([name, value]) => `${name}=${value}`)
  const notes = [
    ...off.map((name) => `${name} is off`),
    chain.rpcUrls?.length === 1 &&
      guardTable.AGREE_ABOVE_USD !== 'off' &&
      'AGREE_ABOVE_USD needs a second RPC endpoint: credits do not wait',
    http.trustProxy === undefined &&
      'TRUST_PROXY is not set: behind a proxy nothing is judged by the address of a client, and a restart may drop requests; false says that there is none',
  ]
  const told = notes.filter((note) => note !== false).map((note) => ['warning', note] as const)
  return [['ok', `GUARDS=${guards}: ${inForce.join(' ')}`], ...told]
}

/** The settings, with those secrets that are set. */
function loadSet(env: NodeJS.ProcessEnv) {
  const needed: readonly Secret[] = ['DATABASE_URL', 'REDIS_URL']
  return loadConfig(
    env,
    allSecrets.filter((secret) => needed.includes(secret) || isSet(secret)),
  )
}

/** Every fault of the settings that are set, also of those that only one process reads. */
function faultsOf(env: NodeJS.ProcessEnv): readonly SettingFault[] {
  const own: readonly (readonly [setting: string, reader: SettingsReader])[] = [
    ['WALLET_KEK', loadWalletKeys],
    ['REPORT_SIGNING_KEY', loadReportSigningKey],
    ['SMTP_URL', loadMail],
    ['OPS_PORT', loadOperators],
  ]
  const readers = [loadSet, ...own.flatMap(([setting, reader]) => (isSet(setting) ? [reader] : []))]
  try {
    checkSettings(readers, env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults
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

export const command = await defineCommand(import.meta, {
  usage,
  options: defineOptions(
    {},
    {
      '--web <n>': 'web processes that will run; default 1; of each worker one',
      '--as-deployed':
        'also checks each process by itself, with DATABASE_URL_WEB and so on: its settings, its role with rights and\nlimits, default_pool_size, and the ports that Prometheus asks',
    },
  ),
  async run({ web = '1', 'as-deployed': asDeployed = false }) {
    const webProcesses = Number(web)
    if (!/^\d+$/.test(web) || webProcesses < 1 || webProcesses > mostWebProcesses)
      throw new UsageError(`--web takes a number from 1 to ${mostWebProcesses}`)
    const checks = await checkAll(webProcesses)
    return present(asDeployed ? [...checks, ...(await checkDeployed(process.env, webProcesses))] : checks)
  },
})
