import { createTransport } from 'nodemailer'
import { z } from 'zod'
import type { Composed } from '../../../../src/compose.js'
import { solMint, usdc } from '../../../../src/kernel/tokens.js'
import type { Config } from '../../../../src/platform/config/config.js'
import { loadMail } from '../../../../src/platform/config/own-settings.js'
import type { ExchangeRateFeed } from '../../../../src/ports/exchange-rates.js'
import { createFiatpayPayouts } from '../../../../src/providers/fiatpay/payouts.js'
import { readFeeAccounts } from '../chain/fee-accounts.js'
import { type Check, check, type Finding, findingsOr, hostOf, isLocal, isSet, reasonOf } from './check.js'
import { skewFinding } from './database.js'

const timeoutMs = 10_000
const dayMs = 86_400_000
/** The header `Date` has whole seconds. */
const dateExactMs = 1000
const inProduction = (): boolean => process.env['NODE_ENV'] === 'production'

/** Everything outside but the database and Redis. The checks run at the same time. */
export async function checkOutside(services: Composed): Promise<readonly Check[]> {
  const { config } = services
  const all = await Promise.all([
    check('public address', () => findPublicUrl(config)),
    check('solana rpc', () => findRpc(config)),
    check('treasury', () => findTreasury(services)),
    check('prices', () => findPrices(services)),
    check('swap engines', () => findSwaps(config)),
    check('exchange rate', () => findRate('RATE_URL', () => services.exchangeRates)),
    config.rates.secondUrl === undefined
      ? []
      : check('second exchange rate', () => findRate('SECOND_RATE_URL', () => services.secondExchangeRates)),
    check('naira provider', () => findProvider(config)),
    check('mail server', findMail),
    check('clock of this machine', () => findSkew(config)),
  ])
  return all.flat()
}

async function findPublicUrl({ http: { publicUrl } }: Config): Promise<readonly Finding[]> {
  const answer = await fetch(`${publicUrl}/health`, { signal: AbortSignal.timeout(timeoutMs) }).then(
    ({ status }) => status,
    reasonOf,
  )
  return findingsOr(
    `${hostOf(publicUrl)} answers`,
    !inProduction() && ['warning', 'NODE_ENV is not production'],
    answer !== 200 && ['warning', `${hostOf(publicUrl)} does not answer /health as this service (${answer})`],
  )
}

const genesisAnswer = z.object({ result: z.string() })

async function genesisOf(url: string): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getGenesisHash' }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (!answer.ok) throw new Error(`${hostOf(url)} answers ${answer.status}`)
  const read = genesisAnswer.safeParse(await answer.json().catch(() => undefined))
  if (!read.success) throw new Error(`${hostOf(url)} does not answer as a Solana RPC endpoint`)
  return read.data.result
}

async function findRpc({ chain }: Config): Promise<readonly Finding[]> {
  const { rpcUrls, genesisHash, publicRpcUrl, publicBundleRpcUrl } = chain
  if (rpcUrls === undefined) return [['skipped', 'SOLANA_RPC_URLS is not set here']]
  const urls = [...new Set([...rpcUrls, publicRpcUrl, publicBundleRpcUrl].filter((url) => url !== undefined))]
  const faults: Finding[] = []
  const hashes = new Map<string, string>()
  const genesis = async (url: string) => hashes.set(url, await genesisOf(url))
  await Promise.all(
    urls.map((url) =>
      genesis(url).catch((error) => faults.push(['wrong', `${hostOf(url)}: ${reasonOf(error)}`])),
    ),
  )
  const wanted = genesisHash ?? hashes.get(rpcUrls[0] ?? '')
  for (const [url, hash] of hashes)
    if (hash !== wanted)
      faults.push(['wrong', `${hostOf(url)} is on another chain: its genesis hash is ${hash}`])
  return findingsOr(
    `${urls.length} endpoints, all on ${genesisHash}`,
    ...faults,
    genesisHash === undefined && ['warning', `set SOLANA_GENESIS_HASH=${wanted ?? '<hash>'}`],
    rpcUrls.length === 1 && ['warning', 'one RPC endpoint: nothing takes over when it is away or lies'],
    urls.some((url) => url.startsWith('http:') && !isLocal(url)) && [
      'warning',
      'an RPC endpoint is reached without TLS',
    ],
    publicRpcUrl === undefined && [
      'warning',
      'pages have no RPC endpoint without a key in its address: set PUBLIC_RPC_URL',
    ],
  )
}

async function findTreasury({ config, chain }: Composed): Promise<Finding> {
  const { rpcUrls, genesisHash } = config.chain
  if (rpcUrls === undefined) return ['skipped', 'SOLANA_RPC_URLS is not set here']
  const wallet = config.tips.treasuryWallet
  const { referralAccount } = config.swaps
  const treasury = { rpcUrls, genesisHash, wallet, referralAccount }
  const { accounts, lamportsMissing } = await readFeeAccounts(chain, treasury)
  const missing = accounts.filter(({ open }) => !open).map(({ symbol }) => symbol)
  if (missing.length === 0 && lamportsMissing === 0n)
    return ['ok', `${wallet} exists, and its ${accounts.length} token accounts are open`]
  const lacks = [
    ...(lamportsMissing > 0n ? [`${lamportsMissing} lamports`] : []),
    ...(missing.length > 0 ? [`accounts for ${[...new Set(missing)].join(', ')}`] : []),
  ]
  return [
    'wrong',
    `${wallet} lacks ${lacks.join(' and ')}, so tips go out without our fee: run setup-treasury`,
  ]
}

async function findPrices({ prices, config }: Composed): Promise<Finding> {
  const found = await prices.read([solMint, usdc.mint])
  const host = hostOf(config.prices.url)
  if ([solMint, usdc.mint].every((mint) => (found.get(mint) ?? 0n) > 0n)) return ['ok', `${host} has prices`]
  return ['wrong', `${host} has no price for SOL or USDC`]
}

async function findSwaps({ swaps }: Config): Promise<readonly Finding[]> {
  const { ultraUrl, v6Url, referralAccount } = swaps
  const urls = [ultraUrl, v6Url].filter((url) => url !== undefined)
  const reached = await Promise.all(
    urls.map((url) => fetch(url, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined)),
  )
  return findingsOr(
    `${urls.map(hostOf).join(' and ')} can be reached`,
    ...urls.map((url, at) => !reached[at] && (['wrong', `${hostOf(url)} cannot be reached`] as const)),
    urls.length === 0 && ['warning', 'no swap engine: tips that need a swap are refused'],
    ultraUrl !== undefined &&
      referralAccount === undefined && [
        'warning',
        'AGGREGATOR_ULTRA_URL is not used without AGGREGATOR_REFERRAL_ACCOUNT',
      ],
  )
}

async function findRate(setting: string, feed: () => ExchangeRateFeed | undefined): Promise<Finding> {
  if (!isSet(setting)) return ['skipped', `${setting} is not set here`]
  const reading = await feed()?.read()
  if (reading?.value === undefined) return ['wrong', 'the feed has no naira']
  if (Date.now() - reading.asOf.getTime() > dayMs)
    return ['warning', `the rate is of ${reading.asOf.toISOString()}`]
  return ['ok', `a rate of ${reading.asOf.toISOString()}`]
}

async function findProvider({ fiatpay, payouts }: Config): Promise<readonly Finding[]> {
  const { url, secretKey, payoutKey, deduplicates } = fiatpay
  const keys = [...new Set([secretKey, payoutKey].filter((key) => key !== undefined))]
  if (keys.length === 0) return [['skipped', 'FIATPAY_SECRET_KEY and PAYOUT_SECRET_KEY are not set here']]
  const faults: Finding[] = []
  for (const key of keys) {
    const name = key === secretKey ? 'FIATPAY_SECRET_KEY' : 'PAYOUT_SECRET_KEY'
    const provider = createFiatpayPayouts({ url, secretKey: key, deduplicates, timeoutMs: payouts.timeoutMs })
    await provider.readBalance().catch((error: Error) => faults.push(['wrong', `${name}: ${error.message}`]))
    if (key.startsWith('sk_test') && inProduction()) faults.push(['warning', `${name} is a test key`])
  }
  return findingsOr(
    `${hostOf(url)} accepts ${keys.length === 1 ? 'the key' : 'both keys'}`,
    ...faults,
    await findSecondKey(fiatpay, payouts.timeoutMs),
    url.startsWith('http:') && !isLocal(url) && ['wrong', 'the key is sent without TLS'],
  )
}

/** A second key checks webhooks until the provider ends it. */
async function findSecondKey(
  { url, webhookKeys, deduplicates }: Config['fiatpay'],
  timeoutMs: number,
): Promise<Finding | undefined> {
  const second = webhookKeys?.at(1)
  if (second === undefined) return undefined
  const provider = createFiatpayPayouts({ url, secretKey: second, deduplicates, timeoutMs })
  const ended = await provider.readBalance().then(
    () => false,
    (error: Error) => / 401\b/.test(error.message),
  )
  const text = ended
    ? 'the second value has ended at the provider: set FIATPAY_SECRET_KEY to the first alone'
    : 'FIATPAY_SECRET_KEY has two values, and the provider still takes the second: end it there'
  return ['warning', text]
}

async function findMail(): Promise<Finding> {
  if (!isSet('SMTP_URL')) return ['skipped', 'SMTP_URL is not set here; only the mailer has it']
  const { url } = loadMail()
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs }
  const transport = createTransport({ url, ...limits })
  await transport.verify().finally(() => transport.close())
  return ['ok', `${hostOf(url)} accepts the login`]
}

async function findSkew({ fiatpay }: Config): Promise<Finding> {
  const before = Date.now()
  const answer = await fetch(fiatpay.url, { method: 'HEAD', signal: AbortSignal.timeout(timeoutMs) })
  const after = Date.now()
  const date = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(date)) return ['skipped', `${hostOf(fiatpay.url)} names no time`]
  const [state, text] = skewFinding(
    date + dateExactMs / 2 - (before + after) / 2,
    dateExactMs + after - before,
  )
  return [state, state === 'ok' ? `agrees with ${hostOf(fiatpay.url)}` : `${hostOf(fiatpay.url)} is ${text}`]
}
