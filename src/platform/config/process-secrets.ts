import type { WorkKind } from '../queue/wake-ups.js'

/** Passwords, keys, and addresses that may contain one. No other setting is secret. */
export const allSecrets = [
  'DATABASE_URL',
  'REDIS_URL',
  'SOLANA_RPC_URLS',
  'RATE_URL',
  'SECOND_RATE_URL',
  'AGGREGATOR_API_KEY',
  'FIATPAY_SECRET_KEY',
  'PAYOUT_SECRET_KEY',
  'OTP_PEPPER',
  'DATA_KEY',
  'WALLET_KEK',
  'REPORT_SIGNING_KEY',
  'SMTP_URL',
  'OPS_USER',
  'OPS_PASSWORD',
] as const
export type Secret = (typeof allSecrets)[number]

/** These may be left out everywhere. */
export const optionalSecrets: readonly Secret[] = ['SECOND_RATE_URL', 'AGGREGATOR_API_KEY']

/** What stands in for a secret that is not set. Who needs the first may then read the second. */
const standIns: Readonly<Partial<Record<Secret, Secret>>> = {
  DATA_KEY: 'OTP_PEPPER',
  PAYOUT_SECRET_KEY: 'FIATPAY_SECRET_KEY',
  REPORT_SIGNING_KEY: 'OTP_PEPPER',
}

const service = ['DATABASE_URL', 'REDIS_URL'] as const
const rates = ['RATE_URL', 'SECOND_RATE_URL'] as const
const outgoing = [...service, ...rates, 'FIATPAY_SECRET_KEY', 'OTP_PEPPER', 'DATA_KEY'] as const

/**
 * Which process reads which secret: all others are not read, and `npm run dev` does not even give them
 * (docs/decisions/0059). `ops`: the operators' commands. A process that uses what it has no key for gets an error that
 * names this list.
 */
export const secretsOf = {
  web: [
    ...service,
    ...rates,
    'SOLANA_RPC_URLS',
    'AGGREGATOR_API_KEY',
    'FIATPAY_SECRET_KEY',
    'OTP_PEPPER',
    'DATA_KEY',
  ],
  verifier: [...service, 'SOLANA_RPC_URLS'],
  finder: [...service, 'SOLANA_RPC_URLS'],
  settlement: [...service, ...rates, 'FIATPAY_SECRET_KEY'],
  payouts: [...service, 'PAYOUT_SECRET_KEY', 'DATA_KEY'],
  reconciler: [...service, 'FIATPAY_SECRET_KEY'],
  provisioner: [...service, 'WALLET_KEK'],
  custodian: [...service, 'SOLANA_RPC_URLS', 'WALLET_KEK'],
  'take-outs': [...service, 'SOLANA_RPC_URLS', 'WALLET_KEK'],
  mailer: [...service, 'SMTP_URL', 'DATA_KEY'],
  dispatcher: [...service, 'DATA_KEY'],
  clock: [
    ...service,
    ...rates,
    'SOLANA_RPC_URLS',
    'AGGREGATOR_API_KEY',
    'FIATPAY_SECRET_KEY',
    'DATA_KEY',
    'REPORT_SIGNING_KEY',
    'OPS_USER',
    'OPS_PASSWORD',
  ],
  'ops accept-rate': ['DATABASE_URL'],
  'ops archive': ['DATABASE_URL'],
  'ops backup': ['DATABASE_URL'],
  'ops check-books': ['DATABASE_URL'],
  'ops close-account': service,
  'ops collections': [...service, 'FIATPAY_SECRET_KEY'],
  // Asks whatever is set, and requires nothing.
  'ops conformance': [
    ...rates,
    'SOLANA_RPC_URLS',
    'AGGREGATOR_API_KEY',
    'FIATPAY_SECRET_KEY',
    'PAYOUT_SECRET_KEY',
    'SMTP_URL',
  ],
  'ops database-roles': [],
  // Checks whatever is set, and requires nothing.
  'ops doctor': allSecrets,
  'ops disputes': [...service, 'FIATPAY_SECRET_KEY', 'DATA_KEY'],
  'ops find-uncredited': [...service, 'SOLANA_RPC_URLS'],
  'ops forget-payer': [...service, 'DATA_KEY'],
  'ops freeze-account': service,
  'ops link-handle': ['DATABASE_URL'],
  'ops migrate': ['DATABASE_URL'],
  'ops outgoing': outgoing,
  'ops payouts': outgoing,
  'ops receivables': ['DATABASE_URL'],
  'ops remove-factors': service,
  'ops restore-check': [...service, 'SOLANA_RPC_URLS', 'FIATPAY_SECRET_KEY', 'DATA_KEY'],
  'ops reserves': [...service, ...rates, 'SOLANA_RPC_URLS', 'FIATPAY_SECRET_KEY', 'REPORT_SIGNING_KEY'],
  'ops rotate-data-key': ['DATABASE_URL', 'DATA_KEY'],
  'ops rotate-wallet-key': ['DATABASE_URL', 'WALLET_KEK'],
  'ops refunds': [...service, 'FIATPAY_SECRET_KEY'],
  'ops setup-treasury': ['DATABASE_URL', 'SOLANA_RPC_URLS'],
  // Refunds leave our account.
  'ops suspense': [...service, 'PAYOUT_SECRET_KEY'],
  'ops sweep': [...service, 'SOLANA_RPC_URLS'],
  'ops switch': ['DATABASE_URL'],
  'ops take-outs': [...service, 'SOLANA_RPC_URLS'],
  'ops trace': ['DATABASE_URL'],
  'ops treasury': ['DATABASE_URL'],
  'ops unfreeze': service,
  'ops verify-identity': [...service, ...rates, 'OTP_PEPPER'],
  'ops webhooks': ['DATABASE_URL'],
  'ops work': ['DATABASE_URL'],
} as const satisfies Readonly<Record<'web' | 'clock' | WorkKind | `ops ${string}`, readonly Secret[]>>
export type ProcessKind = keyof typeof secretsOf

const isSet = (text: string | undefined): boolean => text !== undefined && text.trim() !== ''

/** The environment without the secrets that a process does not need. */
export function withoutOtherSecrets(env: NodeJS.ProcessEnv, secrets: readonly Secret[]): NodeJS.ProcessEnv {
  const readable = new Set<string>(secrets)
  for (const secret of secrets) {
    const standIn = standIns[secret]
    if (standIn !== undefined && !isSet(env[secret])) readable.add(standIn)
  }
  const others = allSecrets.filter((secret) => !readable.has(secret))
  return Object.fromEntries(Object.entries(env).filter(([name]) => !others.some((other) => other === name)))
}

/** The secrets that must be set for a process to start. */
export function requiredSecrets(env: NodeJS.ProcessEnv, secrets: readonly Secret[]): readonly Secret[] {
  return secrets.filter((secret) => {
    const standIn = standIns[secret]
    const replaced = standIn !== undefined && (isSet(env[standIn]) || secrets.includes(standIn))
    return !optionalSecrets.includes(secret) && !replaced
  })
}
