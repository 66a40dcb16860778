import { z } from 'zod'
import { deriveKey } from '../../kernel/aead.js'
import { serviceName } from '../../kernel/brand.js'
import { DataKeys } from '../../kernel/personal-data.js'
import { ConfigError, readSettings } from './read-settings.js'
import { key, keys, listenAddress, mailbox } from './setting-forms.js'
import { settings } from './settings.js'

// Settings that one or few processes read. They are not part of Config, so that no other process holds them.

/** The operators' pages show what every creator is paid. A password manager fills the password in, so it may be long. */
const operatorsPasswordLength = 16

/** For commands that need the database and nothing else. `prepared`: false behind a pooler in transaction mode. */
export function loadDatabase(env: NodeJS.ProcessEnv = process.env): {
  readonly url: string
  readonly prepared: boolean
} {
  return readSettings(settings.pick({ DATABASE_URL: true }), env).DATABASE_URL
}

/** For the command that prepares the wallet the platform's fees arrive in. */
export type TreasurySettings = ReturnType<typeof loadTreasury>

export function loadTreasury(env: NodeJS.ProcessEnv = process.env) {
  const needed = settings
    .pick({
      SOLANA_RPC_URLS: true,
      SOLANA_GENESIS_HASH: true,
      TREASURY_WALLET: true,
      AGGREGATOR_REFERRAL_ACCOUNT: true,
    })
    .required({ SOLANA_RPC_URLS: true })
  const s = readSettings(needed, env)
  return {
    rpcUrls: s.SOLANA_RPC_URLS,
    genesisHash: s.SOLANA_GENESIS_HASH,
    wallet: s.TREASURY_WALLET,
    referralAccount: s.AGGREGATOR_REFERRAL_ACCOUNT,
  }
}

/** A version is stored with each wallet as an int. */
const highestVersion = 2_147_483_647
const walletKeyBytes = 32
const walletKeyForm = `must be 32 bytes in base64, or several as <version>:<base64>, separated by commas, such as 2:<new>,1:<old>`

/**
 * The keys that seal wallets, by version. A key without a version is version 1, so that one key alone needs none. The highest
 * version is the newest, wherever it stands.
 */
const walletKeys = z.string().transform((text, ctx): ReadonlyMap<number, Buffer> => {
  const keys = new Map<number, Buffer>()
  for (const item of text.split(',')) {
    const [, version = '1', base64 = ''] = /^(?:([1-9]\d{0,9}):)?([A-Za-z0-9+/]+=*)$/.exec(item.trim()) ?? []
    const key = Buffer.from(base64, 'base64')
    if (key.length !== walletKeyBytes || Number(version) > highestVersion) return fault(ctx, walletKeyForm)
    if (keys.has(Number(version))) return fault(ctx, `names version ${version} twice`)
    if ([...keys.values()].some((other) => other.equals(key)))
      return fault(ctx, 'has one key under two versions')
    keys.set(Number(version), key)
  }
  return new Map([...keys].sort(([one], [other]) => other - one))
})

function fault(ctx: z.core.$RefinementCtx, message: string): never {
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
}

/**
 * The key-encryption keys of the custody wallets, by version. Only the provisioner, the custodian and the command that rotates them
 * read them. They are not part of Config, so that no other process holds them.
 */
export function loadWalletKeys(env: NodeJS.ProcessEnv = process.env): ReadonlyMap<number, Buffer> {
  return readSettings(z.object({ WALLET_KEK: walletKeys }), env).WALLET_KEK
}

/** For the command that seals personal data again. */
export function loadDataKeys(env: NodeJS.ProcessEnv = process.env): DataKeys {
  const { DATA_KEY } = readSettings(z.object({ DATA_KEY: keys.optional() }), env)
  if (DATA_KEY === undefined) throw new ConfigError([{ setting: 'DATA_KEY', message: 'is missing' }])
  return new DataKeys(DATA_KEY)
}

/**
 * The seed of the Ed25519 key that signs reserve reports: 32 bytes, base64; unset: made from OTP_PEPPER, of two from the first. Only the clock and the
 * command that makes a report read it. It is not part of Config, so that no other process signs.
 */
export function loadReportSigningKey(env: NodeJS.ProcessEnv = process.env): Buffer {
  const own = readSettings(z.object({ REPORT_SIGNING_KEY: key.optional() }), env).REPORT_SIGNING_KEY
  if (own !== undefined) return own
  const pepper = readSettings(z.object({ OTP_PEPPER: keys.optional() }), env).OTP_PEPPER
  if (pepper === undefined) throw new ConfigError([{ setting: 'REPORT_SIGNING_KEY', message: 'is missing' }])
  return deriveKey(pepper[0], 'report-signing/1')
}

/**
 * The mail server and the sender: `Name <address>`. Only the mailer reads them, because the URL may contain a password. An
 * address alone gets the service's name.
 */
export function loadMail(env: NodeJS.ProcessEnv = process.env): {
  readonly url: string
  readonly from: string
} {
  const smtpUrl = z.url({ protocol: /^smtps?$/, hostname: /./, error: 'must be an smtp(s) URL' })
  const { SMTP_URL: url, MAIL_FROM: from } = readSettings(
    z.object({ SMTP_URL: smtpUrl, MAIL_FROM: mailbox }),
    env,
  )
  return { url, from: from.includes('<') ? from : `${serviceName} <${from}>` }
}

/**
 * The address and login of the operators' pages; undefined when they are switched off. Only the clock reads them, so
 * that no other process holds the password.
 */
export function loadOperators(
  env: NodeJS.ProcessEnv = process.env,
):
  | { readonly host: string; readonly port: number; readonly user: string; readonly password: string }
  | undefined {
  if (readSettings(z.object({ OPS_PORT: z.string().optional() }), env).OPS_PORT === undefined)
    return undefined
  const operators = z.object({
    OPS_PORT: listenAddress,
    OPS_USER: z.string().regex(/^[^:]{1,100}$/, 'must be a name without a colon'),
    OPS_PASSWORD: z.string().min(operatorsPasswordLength),
  })
  const { OPS_PORT: listen, OPS_USER: user, OPS_PASSWORD: password } = readSettings(operators, env)
  return { ...listen, user, password }
}
