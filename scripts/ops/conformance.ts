import { allSecrets } from '../../src/platform/config/process-secrets.js'
import { defineCommand, defineOptions, type Outcome } from './support/command.js'
import { askAll, type Check, loadAsked, watchAnswers, withoutSecrets } from './support/conformance/check.js'
import { askMail, askPrices, askRates } from './support/conformance/feeds.js'
import { askFiatpay } from './support/conformance/fiatpay.js'
import { askSolana } from './support/conformance/solana.js'
import { askSwaps } from './support/conformance/swaps.js'
import { hostOf } from './support/doctor/check.js'
import { UsageError } from './support/order.js'

/** Asks the real providers whether they answer as the stand-ins do. */
const usage = `npm run ops -- conformance [--only <providers>] [--json]

Development and tests run with stand-ins. This asks the real providers, with the clients of the service, whether they are as the
stand-ins say, and prints what agrees, what differs, and what was not asked and why. It needs no database and moves no real money:
at the naira provider it opens two charges and sends one transfer of 100 naira of test money, and refuses every key that is not
one for tests (sk_test_). On the chain it only reads; swaps are quoted for TREASURY_WALLET, and never signed or sent.

Give it the settings of the providers to ask, in the environment or in .env: FIATPAY_URL and FIATPAY_SECRET_KEY (and
PAYOUT_SECRET_KEY), SOLANA_RPC_URLS, SOLANA_GENESIS_HASH and TREASURY_WALLET, AGGREGATOR_ULTRA_URL, AGGREGATOR_V6_URL,
AGGREGATOR_API_KEY and AGGREGATOR_REFERRAL_ACCOUNT, PRICE_URL, RATE_URL, SECOND_RATE_URL, SMTP_URL and MAIL_FROM.
What is not set is not asked. Exit code 0: everything that was asked agrees. Exit code 4: something differs, or nothing was asked.`

const described = defineOptions(
  {},
  {
    '--only <providers>': 'some of fiatpay, solana, swaps, prices, rates, smtp, separated by commas',
    '--signature <signature>':
      'a transaction that must be readable, such as one of version 1; may be repeated',
  },
)
const options = { ...described, signature: { ...described.signature, multiple: true } } as const

/** What is asked of each, and the settings that say where it is. A stand-in of this machine agrees, too. */
const providers = {
  fiatpay: [askFiatpay, 'FIATPAY_URL'],
  solana: [askSolana, 'SOLANA_RPC_URLS'],
  swaps: [askSwaps, 'AGGREGATOR_ULTRA_URL,AGGREGATOR_V6_URL'],
  prices: [askPrices, 'PRICE_URL'],
  rates: [askRates, 'RATE_URL,SECOND_RATE_URL'],
  smtp: [askMail, 'SMTP_URL'],
} as const
type Provider = keyof typeof providers
const names = Object.keys(providers) as Provider[]

function parseProviders(only = names.join()): Provider[] {
  const given = new Set(only.split(',').map((name) => name.trim()))
  const known = names.filter((name) => given.has(name))
  if (known.length !== given.size)
    throw new UsageError(`--only takes some of ${names.join(', ')}, separated by commas`)
  return known
}

/** Who was asked. */
function hostsOf(wanted: readonly Provider[]): (readonly [provider: Provider, hosts: string])[] {
  return wanted.flatMap((provider) => {
    const urls = providers[provider][1].split(',').flatMap((name) => process.env[name]?.split(',') ?? [])
    const hosts = new Set(urls.filter((url) => url.trim() !== '').map((url) => hostOf(url.trim())))
    return hosts.size > 0 ? [[provider, [...hosts].join(', ')] as const] : []
  })
}

function present(checks: readonly Check[], hosts: ReturnType<typeof hostsOf>): Outcome {
  const count = (state: Check['state']): number => checks.filter((check) => check.state === state).length
  const [agree, differ, notAsked] = [count('agrees'), count('differs'), count('not asked')]
  const width = Math.max(...checks.map(({ name }) => name.length))
  const lines = checks.map(({ state, provider, name, text }) => {
    const shown = state === 'differs' ? 'DIFFERS' : state
    return `${shown.padEnd(10)} ${provider.padEnd(8)}  ${name.padEnd(width)}  ${text}`
  })
  const end = `agree: ${agree}; differ: ${differ}; not asked: ${notAsked}`
  return {
    ok: differ === 0 && agree > 0,
    text: [...hosts.map(([who, at]) => `${who}: ${at}`), '', ...lines, '', end].join('\n'),
    json: { agree, differ, notAsked, hosts: Object.fromEntries(hosts), checks },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  async run({ only, signature = [] }) {
    const wanted = parseProviders(only)
    const asked = loadAsked(process.env)
    // A key that is not for tests is refused before anything is asked.
    const questions = wanted.map((provider) => [provider, providers[provider][0](asked, signature)] as const)
    const checks = await watchAnswers(async () => {
      const all: Check[] = []
      for (const [provider, ofProvider] of questions) all.push(...(await askAll(provider, ofProvider)))
      return all
    })
    const secrets = allSecrets.map((name) => process.env[name])
    const cleaned = checks.map((check) => ({ ...check, text: withoutSecrets(check.text, secrets) }))
    return present(cleaned, hostsOf(wanted))
  },
})
