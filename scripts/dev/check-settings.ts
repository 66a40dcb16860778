import { loadConfig } from '../../src/platform/config/config.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { checkSettings } from '../../src/platform/config/start-settings.js'
import { processNames, settingsReaders } from '../../workers/registry.js'
import { processSettings, type StartedDependencies } from './process-settings.js'
import { type StackSettings, stackSettings } from './settings.js'

const key = Buffer.alloc(32).toString('base64')
const address = '1'.repeat(32)

/** Valid placeholders for values that exist only after the dependencies have started. */
const placeholders: StartedDependencies = {
  secrets: {
    walletKek: key,
    otpPepper: key,
    fiatpayKey: 'sk_test',
    payoutKey: 'sk_test',
    treasuryWallet: address,
  },
  databaseUrl: 'postgres://127.0.0.1',
  redisUrl: 'redis://127.0.0.1',
  genesisHash: address,
  referralAccount: address,
}

/**
 * The settings of the stack. Checks the settings of every process too, before anything starts. Throws one ConfigError with
 * every fault.
 */
export function checkStackSettings(env: NodeJS.ProcessEnv): StackSettings {
  const readers = [loadConfig, ...settingsReaders(processNames)]
  checkSettings([stackSettings, (given) => checkSettings(readers, forProcesses(given))], env)
  return stackSettings(env)
}

/** The environment that the processes will get. */
function forProcesses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = stackSettings(withoutFaulty(env))
  const started: StartedDependencies = {
    ...placeholders,
    databaseUrl: settings.DATABASE_URL ?? placeholders.databaseUrl,
    redisUrl: settings.REDIS_URL ?? placeholders.redisUrl,
    genesisHash: (settings.SOLANA_RPC_URLS && settings.SOLANA_GENESIS_HASH) ?? placeholders.genesisHash,
  }
  const walletKek = env['WALLET_KEK']?.trim() ? env['WALLET_KEK'] : key
  // The stack refuses NODE_ENV=production itself. What else it would ask for says nothing.
  return { ...env, NODE_ENV: undefined, ...processSettings(env, settings, started), WALLET_KEK: walletKek }
}

/** Leaves out the stack's own faulty settings, which are reported already, to find the faults of the others. */
function withoutFaulty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  try {
    stackSettings(env)
    return env
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const faulty = new Set(error.faults.map(({ setting }) => setting))
    return Object.fromEntries(Object.entries(env).filter(([name]) => !faulty.has(name)))
  }
}
