import { ConfigError, loadConfig } from '../../src/platform/config/config.js'
import { checkSettings } from '../../src/platform/config/start-settings.js'
import { ownSettings } from '../../workers/settings.js'
import { processSettings, type Started } from './process-settings.js'
import { type StackSettings, stackSettings } from './settings.js'

const key = Buffer.alloc(32).toString('base64')
const address = '1'.repeat(32)

/** Stands where the stack will put what it has started or made, which is never at fault. */
const notYetStarted: Started = {
  secrets: { walletKek: key, otpPepper: key, fiatpayKey: 'sk_test', treasuryWallet: address },
  databaseUrl: 'postgres://127.0.0.1',
  redisUrl: 'redis://127.0.0.1',
  genesisHash: address,
  referralAccount: address,
}

/**
 * The settings of the stack. Throws one ConfigError with every fault of what the stack and each of its processes will read,
 * before anything has been started that would only end again.
 */
export function checkedSettings(env: NodeJS.ProcessEnv): StackSettings {
  const readers = [loadConfig, ...Object.values(ownSettings)]
  checkSettings([stackSettings, (given) => checkSettings(readers, forProcesses(given))], env)
  return stackSettings(env)
}

/** The environment the processes will be given. */
function forProcesses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = stackSettings(withoutFaulty(env))
  const started: Started = {
    ...notYetStarted,
    databaseUrl: settings.DATABASE_URL ?? notYetStarted.databaseUrl,
    redisUrl: settings.REDIS_URL ?? notYetStarted.redisUrl,
    genesisHash: (settings.SOLANA_RPC_URLS && settings.SOLANA_GENESIS_HASH) ?? notYetStarted.genesisHash,
  }
  const walletKek = env['WALLET_KEK']?.trim() ? env['WALLET_KEK'] : key
  return { ...env, ...processSettings(env, settings, started), WALLET_KEK: walletKek }
}

/** The faults of the stack's own settings are told already; the others are looked for behind them. */
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
