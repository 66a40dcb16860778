import { allSecrets } from '../../src/platform/config/process-secrets.js'
import { defineOptions } from './support/arguments.js'
import { defineCommand, type Outcome } from './support/command.js'
import {
  type Check,
  notAsked,
  secretParts,
  watchAnswers,
  withoutSecrets,
} from './support/conformance/check.js'
import { askMail, askPrices, askRates } from './support/conformance/feeds.js'
import { askFiatpay, requireTestKeys, type TestAccount } from './support/conformance/fiatpay.js'
import { type Asked, loadAsked } from './support/conformance/settings.js'
import { askSolana } from './support/conformance/solana.js'
import { askSwaps } from './support/conformance/swaps.js'
import { hostOf } from './support/doctor/check.js'
import { UsageError } from './support/errors.js'

/** Asks the real providers whether they answer as the stand-ins do. */
const usage = `npm run ops -- conformance [--only <providers>] [--json]

Development and tests run with stand-ins. This asks the real providers, with the clients of the service, whether they are as the
stand-ins say, and prints what agrees, what differs, and what was not asked and why. It needs no database and moves no real money:
at the naira provider it opens two charges and sends one transfer of 100 naira of test money, and refuses every key that is not
one for tests (sk_test_). On the chain it only reads; swaps are quoted for a public address, and never signed or sent.

Give it the settings of the providers to ask, in the environment or in .env: FIATPAY_URL and FIATPAY_SECRET_KEY (and
PAYOUT_SECRET_KEY), SOLANA_RPC_URLS, SOLANA_GENESIS_HASH and TREASURY_WALLET, AGGREGATOR_ULTRA_URL, AGGREGATOR_V6_URL,
AGGREGATOR_API_KEY and AGGREGATOR_REFERRAL_ACCOUNT, PRICE_URL, RATE_URL, SECOND_RATE_URL, SMTP_URL and MAIL_FROM.
What is not set is not asked. Exit code 0: everything that was asked agrees. Exit code 4: something differs, or nothing was asked.`

const described = defineOptions(
  {},
  {
    '--only <providers>': 'some of fiatpay, solana, swaps, prices, rates, smtp, separated by commas',
    '--bank <code>':
      "bank of the account to resolve and to send test money to; default 001, the provider's test bank",
    '--account <number>': 'that account; default 0123456789',
    '--signature <signature>':
      'a transaction that must be readable, such as one of version 1; may be repeated',
    '--wallet <address>': 'a public address with some SOL for the quotes of swaps; default TREASURY_WALLET',
    '--mail-to <address>': 'send one mail there',
  },
)
const options = { ...described, signature: { ...described.signature, multiple: true } } as const

const providers = ['fiatpay', 'solana', 'swaps', 'prices', 'rates', 'smtp'] as const
type Provider = (typeof providers)[number]

const testAccount: TestAccount = { bankCode: '001', accountNumber: '0123456789' }

function parseProviders(only: string | undefined): ReadonlySet<Provider> {
  if (only === undefined) return new Set(providers)
  const names = only.split(',').map((name) => name.trim())
  const known = providers.filter((provider) => names.includes(provider))
  if (known.length === 0 || known.length !== new Set(names).size)
    throw new UsageError(`--only takes some of ${providers.join(', ')}, separated by commas`)
  return new Set(known)
}

type Hosts = readonly (readonly [provider: Provider, hosts: string])[]

/** Who was asked: a stand-in of this machine agrees, too. */
function hostsOf({ fiatpay, rpcUrls, swaps, prices, rates, mail }: Asked): Hosts {
  const urls: Readonly<Record<Provider, readonly (string | undefined)[]>> = {
    fiatpay: [fiatpay.url],
    solana: rpcUrls,
    swaps: [swaps.ultraUrl, swaps.v6Url],
    prices: [prices.url],
    rates: Object.values(rates),
    smtp: [mail?.url],
  }
  return providers.flatMap((provider) => {
    const hosts = new Set(urls[provider].flatMap((url) => (url === undefined ? [] : hostOf(url))))
    return hosts.size > 0 ? [[provider, [...hosts].join(', ')]] : []
  })
}

function present(checks: readonly Check[], hosts: Hosts): Outcome {
  const count = (state: Check['state']): number => checks.filter((check) => check.state === state).length
  const [agrees, differing, unasked] = [count('agrees'), count('differs'), count('not asked')]
  const widest = (read: (check: Check) => string): number =>
    Math.max(...checks.map((check) => read(check).length))
  const [provider, name] = [widest((check) => check.provider), widest((check) => check.name)]
  const lines = checks.map((check) => {
    const state = check.state === 'differs' ? 'DIFFERS' : check.state
    return `${state.padEnd(10)} ${check.provider.padEnd(provider)}  ${check.name.padEnd(name)}  ${check.text}`
  })
  const end = `agree: ${agrees}; differ: ${differing}; not asked: ${unasked}`
  return {
    ok: differing === 0 && agrees > 0,
    text: [...hosts.map(([who, at]) => `${who}: ${at}`), '', ...lines, '', end].join('\n'),
    json: { agree: agrees, differ: differing, notAsked: unasked, hosts: Object.fromEntries(hosts), checks },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  async run({ only, bank, account, signature = [], wallet, 'mail-to': mailTo }) {
    const wanted = parseProviders(only)
    const asked = loadAsked(process.env)
    if (wanted.has('fiatpay')) requireTestKeys(asked)
    const where = {
      bankCode: bank ?? testAccount.bankCode,
      accountNumber: account ?? testAccount.accountNumber,
    }
    const questions: Readonly<Record<Provider, (asked: Asked) => Promise<Check[]>>> = {
      fiatpay: (given) => askFiatpay(given, where),
      solana: (given) => askSolana(given, signature),
      swaps: (given) => askSwaps(given, wallet),
      prices: askPrices,
      rates: askRates,
      smtp: (given) => askMail(given, mailTo),
    }
    const checks = await watchAnswers(async () => {
      const all = providers.map((provider) =>
        wanted.has(provider) ? questions[provider](asked) : notAsked(provider, ['all'], 'left out by --only'),
      )
      return (await Promise.all(all)).flat()
    })
    const secrets = secretParts(allSecrets.map((name) => process.env[name]))
    const cleaned = checks.map((check) => ({ ...check, text: withoutSecrets(check.text, secrets) }))
    const hosts = hostsOf(asked).filter(([provider]) => wanted.has(provider))
    return present(cleaned, hosts)
  },
})
