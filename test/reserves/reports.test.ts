import { createPublicKey, randomBytes, verify } from 'node:crypto'
import test from 'ava'
import { mintTokens } from '../../scripts/sandbox/chain/faucet.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { createKeySigner } from '../../src/kernel/signing-key.js'
import { usdc } from '../../src/kernel/tokens.js'
import { lockCustody, moveCustody } from '../../src/ledger/custody.js'
import { recordAcceptedRate } from '../../src/market/accepted-rates.js'
import { loadReportSigningKey } from '../../src/platform/config/own-settings.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { readSwitches } from '../../src/platform/database/switches/switches.js'
import { createDailyReport, makeReport } from '../../src/reserves/reports/make-report.js'
import { readCustodyTotals } from '../../src/reserves/reports/read-custody.js'
import type { StoredReport } from '../../src/reserves/reports/report-rows.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as, composeAs } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { changeHolding, finalTip, setProviderBalance } from './support.js'

const world = useWorld(test, { chain: true, fiat: true, proxies: true, slotMs: 400 })

const signer = () => createKeySigner(loadReportSigningKey(world().env))
/** The float is another file's subject. */
const readFloat = async () => undefined
const make = (services = world().services) =>
  makeReport(as('clock', services), { signer: signer(), readFloat, daily: false })

interface ReadReport {
  readonly owed: { readonly USDC: Readonly<Record<string, string>> }
  readonly custody: {
    readonly wallets: number
    readonly USDC: Readonly<Record<'book' | 'chain' | 'short', string>>
    readonly shortWallets: number
  }
  readonly treasury: { readonly wallet: string }
  readonly rate: unknown
  readonly surplus: { readonly NGN: string | null }
}
const parse = (stored: StoredReport | undefined): ReadReport => JSON.parse(stored?.report ?? 'null')

const readPayoutSwitch = async () => (await readSwitches(world().db)).find(({ name }) => name === 'payouts')
const payoutsStopped = async () => (await readPayoutSwitch())?.stoppedAt !== null

test.afterEach.always(() => {
  Object.assign(world().proxies.outside, { intervene: undefined, alterReply: undefined })
})

test.serial('a new installation has no report, then an empty one that stops nothing', async (t) => {
  await setProviderBalance(world(), 0n)
  t.is((await world().request('GET', '/reserves')).status, 404)
  const { body } = await world().request<{ keys: { signs: string }[] }>(
    'GET',
    '/.well-known/tipping-keys.json',
  )
  t.deepEqual(
    body.keys.map(({ signs }) => signs),
    ['receipts'],
  )
  t.regex((await runOpsScript(world(), 'reserves')).out, /no report was made yet/)
  const report = parse(await make())
  t.like(report, {
    custody: { wallets: 0, USDC: { book: '0', chain: '0', short: '0' } },
    rate: null,
    surplus: { NGN: null },
  })
  for (const kind of ['custody_short', 'reserves_short']) t.is(await countAlerts(world(), kind), 0)
  t.false(await payoutsStopped())
})

test.serial('anyone can check the newest report with the published key, and it names nobody', async (t) => {
  const creator = await registerCreator(world())
  await finalTip(world(), creator)
  const made = await runOpsScript(world(), 'reserves', '--make', '--json')
  t.is(made.code, 0, made.err)
  // Another process: this one may answer with what it has read before.
  const { url } = await startApp(t, world().env)
  const response = await fetch(`${url}/reserves`, { headers: { origin: 'https://auditor.example' } })
  t.is(response.headers.get('access-control-allow-origin'), '*')
  t.is(response.headers.get('cache-control'), 'public, max-age=60')
  const answer = (await response.json()) as Record<'report' | 'signature' | 'keyId', string>
  t.is(answer.report, JSON.parse(made.out).report)
  const { keys } = (await (await fetch(`${url}/.well-known/tipping-keys.json`)).json()) as {
    keys: { kid: string; x: string }[]
  }
  const jwk = keys.find(({ kid }) => kid === answer.keyId) as unknown as Parameters<typeof createPublicKey>[0]
  const key = createPublicKey({ key: jwk as never, format: 'jwk' })
  const signature = Buffer.from(answer.signature, 'base64url')
  t.true(verify(null, Buffer.from(answer.report), key, signature))
  t.false(verify(null, Buffer.from(answer.report.replace('1.96', '1.97')), key, signature))
  t.like(JSON.parse(answer.report), {
    owed: { USDC: { available: '1.96', pending: '0', held: '0', total: '1.96' } },
    custody: { wallets: 1, USDC: { book: '1.96', chain: '1.96', short: '0' }, shortWallets: 0 },
    treasury: { wallet: world().env['TREASURY_WALLET'] },
  })
  for (const name of [creator.wallet, creator.user.id, creator.user.name])
    t.false(answer.report.includes(name))
})

test.serial('a tip that lands while the chain is read is no shortage', async (t) => {
  const creator = await registerCreator(world())
  let landed = false
  world().proxies.outside.intervene = async (_path, body) => {
    if (landed || !body.includes('getMultipleAccounts') || !body.includes('finalized')) return undefined
    landed = true
    await finalTip(world(), creator)
    return undefined
  }
  const report = parse(await make())
  t.true(landed)
  t.is(report.owed.USDC['total'], '1.96', 'the ledger was read before')
  t.is(report.custody.USDC.short, '0')
  t.is(report.custody.USDC.chain, '3.92')
  t.false(await payoutsStopped())
})

test.serial('a sweep that is signed and lands while the chain is read is no shortage', async (t) => {
  const creator = await registerCreator(world())
  await finalTip(world(), creator)
  const { services, proxies, db } = world()
  // The second request is the custody wallets'; the first is the treasury's.
  let requests = 0
  proxies.outside.intervene = async (_path, body) => {
    if (!body.includes('getMultipleAccounts') || !body.includes('finalized')) return undefined
    requests += 1
    if (requests !== 2) return undefined
    const move = { userId: creator.user.id, mint: usdc.mint, amount: 960_000n }
    await services.transact(async ({ trx }) => {
      await lockCustody(trx, [move.userId], move.mint)
      await moveCustody(trx, 'sign', [move])
    })
    changeHolding(world(), creator.wallet, -960_000n)
    return undefined
  }
  const report = parse(await make())
  t.is(requests, 3, 'it was read again')
  t.is(report.custody.USDC.short, '0')
  t.false(await payoutsStopped())
  await services.transact(({ trx }) =>
    moveCustody(trx, 'sweep', [{ userId: creator.user.id, mint: usdc.mint, amount: 960_000n }]),
  )
  t.is((await db('custody').where({ user_id: creator.user.id }).first()).in_flight, '0')
  t.is(parse(await make()).custody.USDC.short, '0')
})

test.serial('a node that is behind makes no report and stops nothing', async (t) => {
  world().proxies.outside.alterReply = (method, _params, reply) => {
    if (method !== 'getMultipleAccounts') return reply
    const { value } = reply.result as { value: unknown[] }
    return { id: reply.id, result: { context: { slot: 1 }, value: value.map(() => null) } }
  }
  await t.throwsAsync(make(), { message: /has finalized slot 1/ })
  await t.throwsAsync(createDailyReport(as('clock', world().services), signer(), readFloat)())
  t.is(await countAlerts(world(), 'reserve_report_failed'), 1)
  t.false(await payoutsStopped())
  t.is(await countAlerts(world(), 'custody_short'), 0)
})

test.serial('an endpoint that lags behind another may catch up, and stops nothing', async (t) => {
  const creator = await registerCreator(world())
  await finalTip(world(), creator)
  const urls = `${world().env['SOLANA_RPC_URLS']},${world().sandbox.url}`
  const both = composeAs('clock', { ...world().env, SOLANA_RPC_URLS: urls })
  t.teardown(() => both.close())
  // It has finalized the tip, and not yet what was credited since. The first read is the treasury's, the second the wallets'.
  let reads = 0
  let slot: number | undefined
  world().proxies.outside.alterReply = (method, _params, reply) => {
    if (method !== 'getMultipleAccounts') return reply
    reads += 1
    if (reads < 2 || reads > 3) return reply
    const { context, value } = reply.result as { context: { slot: number }; value: unknown[] }
    slot ??= context.slot - 5
    return { id: reply.id, result: { context: { slot }, value: value.map(() => null) } }
  }
  t.is(parse(await make(both)).custody.shortWallets, 0)
  t.is(reads, 4)
  t.false(await payoutsStopped())
})

test.serial('a wallet that lacks USDC stops payouts until a person decides', async (t) => {
  const creator = await registerCreator(world())
  const rich = await registerCreator(world())
  await finalTip(world(), creator)
  mintTokens(world().sandbox.chain, rich.wallet, usdc.mint, 50_000_000n)
  t.is(parse(await make()).custody.USDC.short, '0', 'a direct deposit is nobody’s lack')

  changeHolding(world(), creator.wallet, -500_000n)
  const urls = `${world().env['SOLANA_RPC_URLS']},${world().sandbox.url}`
  const misled = composeAs('clock', { ...world().env, SOLANA_RPC_URLS: urls })
  t.teardown(() => misled.close())
  world().proxies.outside.alterReply = (method, _params, reply) => {
    if (method !== 'getMultipleAccounts') return reply
    const { value, ...rest } = reply.result as { value: ({ data: [string, string] } | null)[] }
    const rich = value.map((account) => {
      if (account === null) return account
      const data = Buffer.from(account.data[0], 'base64')
      if (data.length >= 72) data.writeBigUInt64LE(10n ** 12n, 64)
      return { ...account, data: [data.toString('base64'), 'base64'] }
    })
    return { ...reply, result: { ...rest, value: rich } }
  }
  t.is(parse(await make(misled)).custody.USDC.short, '0.5', 'one of two endpoints shows more than there is')
  world().proxies.outside.alterReply = undefined
  const short = parse(await make())
  t.like(short.custody, { shortWallets: 1, USDC: { short: '0.5' } })
  t.is(await countAlerts(world(), 'custody_short'), 1)
  t.true(await payoutsStopped())
  t.like(await readPayoutSwitch(), { changedBy: 'custody_short' })
  const shown = await runOpsScript(world(), 'reserves')
  t.is(shown.code, 4)
  t.true(shown.out.includes(`short: ${creator.wallet} holds 1460000 of 1960000 micro-USDC`))
  t.false(
    (await world().db('reserve_reports').orderBy('id', 'desc').first('report')).report.includes(
      creator.wallet,
    ),
  )

  changeHolding(world(), creator.wallet, 500_000n)
  t.is(parse(await make()).custody.shortWallets, 0)
  t.true(await payoutsStopped(), 'only a person lets them run')
  const resumed = await runOpsScript(world(), 'payouts', 'resume', '--apply', '--reason', 'it was a test')
  t.is(resumed.code, 0, resumed.err)
  t.false(await payoutsStopped())
})

test.serial('a shortfall by the exchange rate alarms and stops nothing', async (t) => {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    displayName: 'Ada',
    email: 'ada@example.com',
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const even = parse(await make())
  t.false(even.surplus.NGN?.startsWith('-'), `${even.surplus.NGN}`)
  const { value } = await world().db('rates').whereNotNull('accepted_at').orderBy('id', 'desc').first('value')
  const doubled = BigInt(String(value).replace('.', '')) * 2n
  await recordAcceptedRate(world().db, { value: doubled, asOf: new Date() }, 'test')
  const short = parse(await make())
  t.true(short.surplus.NGN?.startsWith('-'), `${short.surplus.NGN}`)
  t.is(await countAlerts(world(), 'reserves_short'), 1)
  t.is(await countAlerts(world(), 'custody_short'), 1, 'that of the test before')
  t.false(await payoutsStopped())
  t.is((await runOpsScript(world(), 'reserves')).code, 4)
})

test.serial('two clocks make one report of the day, and it is not made again', async (t) => {
  const daily = () => createDailyReport(as('clock', world().services), signer(), readFloat)()
  await Promise.all([daily(), daily()])
  await daily()
  t.is((await world().db('reserve_reports').whereNotNull('day')).length, 1)
})

test.serial('after a change of the key old reports can still be checked', async (t) => {
  const before = (await make()) as StoredReport
  const env = { ...world().env, REPORT_SIGNING_KEY: randomBytes(32).toString('base64') }
  const other = createKeySigner(loadReportSigningKey(env))
  const after = await makeReport(as('clock', world().services), { signer: other, readFloat, daily: false })
  t.is(after?.keyId, other.keyId)
  const { url } = await startApp(t, world().env)
  const { keys } = (await (await fetch(`${url}/.well-known/tipping-keys.json`)).json()) as {
    keys: { kid: string; signs: string }[]
  }
  const kids = keys.flatMap(({ kid, signs }) => (signs === 'reports' ? [kid] : []))
  t.deepEqual(kids.toSorted(), [before.keyId, other.keyId].toSorted())
  t.deepEqual(loadReportSigningKey(world().env), loadReportSigningKey(world().env), 'the same at every start')
  t.throws(() => loadReportSigningKey({ ...world().env, REPORT_SIGNING_KEY: 'short' }), {
    instanceOf: ConfigError,
  })
  await t.throwsAsync(world().db('reserve_reports').where({ id: before.id }).update({ report: '{}' }))
})

test.serial('thousands of wallets are read by hundreds, page by page', async (t) => {
  const { db, services, sandbox } = world()
  const wallets = Array.from({ length: 2100 }, () => encodeBase58(randomBytes(32)))
  await db.raw(
    `with people as (
       insert into users (email, name, password_hash)
         select 'many' || n || '@example.com', 'Ada Obi', 'none' from generate_series(1, ?) n returning id)
     insert into wallets (user_id, public_key, sealed_secret, key_version, due_at)
       select p.id, w.key, '\\x00', 1, null
       from (select id, row_number() over () as n from people) p
       join (select key, row_number() over () as n from unnest(?::text[]) key) w on w.n = p.n`,
    [wallets.length, wallets],
  )
  const [before, progress] = [sandbox.calls.of('getMultipleAccounts'), [] as number[]]
  const totals = await readCustodyTotals({ db, chain: services.chain }, (read) => progress.push(read))
  const all = await db('wallets').whereNotNull('public_key').select('id')
  t.is(totals.wallets, all.length)
  t.deepEqual(progress, [1000, 2000, totals.wallets])
  t.is(sandbox.calls.of('getMultipleAccounts') - before, Math.ceil(totals.wallets / 100))
})
