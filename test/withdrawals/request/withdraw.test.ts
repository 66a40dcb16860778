import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { loadConfig } from '../../../src/platform/config/config.js'
import { openName, resolvedContext } from '../../../src/withdrawals/bank-account.js'
import { createControlledCall } from '../../helpers/controlled-call.js'
import { createClient } from '../../helpers/http/client.js'
import {
  bank,
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  readBalance,
  readWithdrawalRow,
  reconcileAll,
  requestWithdrawal,
} from '../../helpers/make/withdrawals.js'
import { startSandboxProxy } from '../../helpers/proxies/sandbox-proxy.js'
import { startApp } from '../../helpers/servers/serve-app.js'
import { startWorkerLoops } from '../../helpers/servers/worker-loops.js'
import { useWorld, type World } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'
import { listBrokenInvariants } from '../../ledger/support.js'

/** A payout worker runs with the app, as in production. The tests run the reconciler. */
const world = useWorld(test, { fiat: true, mail: true, env: { WITHDRAW_WAIT_MS: '20000' } })
let worker: { stop(): Promise<void> }
test.beforeEach('a payout worker runs, and the provider has no faults', () => {
  world().fiat.fiatpay.faults.reset()
  worker = startWorkerLoops(world().services, ['payouts'])
})
test.afterEach.always('the worker stops', () => worker.stop())

/** The same world behind another app with these settings. The worker runs with them too. */
async function withSettings(t: ExecutionContext, changes: Record<string, string>): Promise<World> {
  await worker.stop()
  const { url, services } = await startApp(t, { ...world().env, ...changes })
  worker = startWorkerLoops(services, ['payouts'])
  return Object.create(world(), {
    request: { value: await createClient(url) },
    services: { value: services },
  })
}

test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})
test.serial('a withdrawal in USDC is priced, reserved, sent and answered as submitted', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const answer = await requestWithdrawal(world(), ada, { amountUSDC: 10, accountNumber: '012-345 6789' })
  t.is(answer.status, 200)
  const { reference } = answer.body
  t.regex(reference, /^FIATPAY-[0-9A-F]{32}$/)
  // USD 10 at NGN 1,600 is NGN 16,000; one per cent of it is NGN 160.
  t.deepEqual(answer.body, {
    success: true,
    provider: 'fiatpay',
    reference,
    status: 'submitted',
    amountNGN: 15_840,
    systemFeeNGN: 160,
    amountUSDC: 10,
    currency: 'USDC',
    requiresVerification: false,
    heldFor: null,
  })
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 10, heldUSDC: 10 })
  t.like(world().fiat.fiatpay.log().transfers.at(-1), { amountKobo: 1_584_000, accountNumber: '0123456789' })
})

test.serial('a request that the provider does not answer does not delay other withdrawals', async (t) => {
  const provider = await startSandboxProxy(world().fiat.url)
  t.teardown(provider.close)
  const held = createControlledCall<string, undefined>()
  const isHers = (body: string) => body.includes('"amount":1584000')
  provider.intervene = (path, body) =>
    path.endsWith('/transfer') && isHers(body) ? held.run(path) : undefined
  const app = await withSettings(t, { FIATPAY_URL: `${provider.url}/fiatpay`, PAYOUT_SECONDS: '30,3,900' })
  const [ada, ben] = await Promise.all([creatorWithBalance(app, 20), creatorWithBalance(app, 20)])
  const hers = requestWithdrawal(app, ada, { amountUSDC: 10 })
  const call = await held.next()
  t.is((await createWithdrawal(app, ben, { amountUSDC: 5 })).status, 'submitted')
  t.is((await app.db('withdrawals').where({ send_state: 'sending' })).length, 1, 'hers is still on its way')
  call.resolve(undefined)
  t.is((await hers).body.status, 'submitted')
})

test.serial('a withdrawal is answered within 5 s, whatever the provider does', async (t) => {
  const provider = await startSandboxProxy(world().fiat.url)
  t.teardown(provider.close)
  provider.intervene = () => 'hang'
  const names = { IDENTITY_LIMITS_NGN: 'name-day:500000', PAYOUT_SECONDS: '30,3,900' }
  const app = await withSettings(t, {
    ...names,
    FIATPAY_URL: `${provider.url}/fiatpay`,
    WITHDRAW_WAIT_MS: '0',
  })
  const ada = await creatorWithBalance(app, 20)
  const started = performance.now()
  const { status } = await createWithdrawal(app, ada, { amountUSDC: 10 })
  const ms = performance.now() - started
  t.is(status, 'pending')
  t.true(ms < 15_000, `${ms} ms; the provider answers after 30 s at the earliest`)
  const { WITHDRAW_WAIT_MS: _, ...defaults } = world().env
  t.true(loadConfig(defaults).withdrawals.waitMs + 500 <= 5000)
})

test.serial('the history shows every status that a withdrawal passed through', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  t.like((await listHistory(world(), ada))[0], { status: 'submitted', processingAt: null })
  await reconcileAll(world())
  t.like((await listHistory(world(), ada))[0], { status: 'processing', completedAt: null })
  const transfer = world().fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined) world().fiat.fiatpay.setOutcome(transfer, 'success')
  await reconcileAll(world())
  const [paid] = await listHistory(world(), ada)
  t.like(paid, { reference, status: 'completed', accountNumber: '******6789', failureReason: null })
  t.true(
    [paid?.createdAt, paid?.submittedAt, paid?.processingAt, paid?.completedAt].every(
      (at) => typeof at === 'string',
    ),
  )
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
  await until('nothing is left to do', async () => {
    await reconcileAll(world())
    return (await readWithdrawalRow(world(), reference)).due_at === null
  })
})

test.serial('the provider, not the service, refuses a different account name', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const answer = await requestWithdrawal<{ error: string }>(world(), ada, {
    amountUSDC: 20,
    accountNumber: '0000000001',
  })
  t.is(answer.status, 502)
  t.is(answer.body.error, 'Account name mismatch')
})

test.serial('a payout is sent also when the account name cannot be resolved', async (t) => {
  const [ada, ben] = [await creatorWithBalance(world(), 20), await creatorWithBalance(world(), 20)]
  const odd = await createWithdrawal(world(), ben, { amountUSDC: 5, accountNumber: '0000000000' })
  t.like(await readWithdrawalRow(world(), odd.reference), {
    status: 'submitted',
    sealed_resolved_name: null,
  })
  const known = await createWithdrawal(world(), ada, { amountUSDC: 5 })
  const { sealed_resolved_name: sealed } = await readWithdrawalRow(world(), known.reference)
  t.is(openName(world().services.config, resolvedContext(known.reference), sealed as Buffer), 'Ada Obi')
})

test.serial('a fault of our own leaves the withdrawal pending and refuses nothing', async (t) => {
  const app = await withSettings(t, { WITHDRAW_WAIT_MS: '0' })
  const ada = await creatorWithBalance(app, 20)
  world().fiat.fiatpay.faults.setMode({ transfers: 'no-float' })
  const { reference, status } = await createWithdrawal(app, ada, { amountUSDC: 20 })
  t.is(status, 'pending')
  await until('it was tried', async () => (await readWithdrawalRow(app, reference)).last_error !== null)
  t.like(await readWithdrawalRow(app, reference), { status: 'pending', send_state: 'not_sent', sends: 0 })
  t.is(countExecutions(world(), reference), 0)
})

test.serial("the provider's codes of wallets are paid; an unlisted code is refused", async (t) => {
  const [ada, ben] = [await creatorWithBalance(world(), 20), await creatorWithBalance(world(), 20)]
  const ask = async (amountUSDC: number, bankCode: string, creator = ada) => {
    const { status, body } = await requestWithdrawal<{ error?: string }>(world(), creator, {
      amountUSDC,
      bankCode,
    })
    return [status, body.error]
  }
  // OPay, Kuda: nobody has asked for the list of banks yet.
  t.deepEqual(await ask(2, '999992'), [200, undefined])
  t.deepEqual(await ask(2, '50211', ben), [200, undefined])
  t.deepEqual(await ask(2, '999'), [400, 'Bank details required'])
  t.deepEqual(await ask(1e9, '999'), [400, 'Insufficient Balance'])
  t.deepEqual(await ask(1e9, '999993'), [400, 'Bank details required'], 'not a code by form')
  t.deepEqual(await ask(1e9, 'opay'), [400, 'Bank details required'], 'nicknames are for the search')
  t.deepEqual(
    world()
      .fiat.fiatpay.log()
      .transfers.slice(-2)
      .map(({ accountNumber }) => accountNumber),
    ['0123456789', '0123456789'],
  )
})

const wrongAmounts = [
  {},
  { amountUSDC: null, amountNGN: null },
  { amountUSDC: 1, amountNGN: 1600 },
  { amountUSDC: 0 },
  { amountUSDC: -1 },
  { amountUSDC: '5' },
  { amountUSDC: 0.000_000_4 },
  { amountNGN: 0.004 },
  { amountNGN: [] },
  { amountUSDC: 1, amountNGN: 'x' },
]
test.serial('refusals come in the documented order', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const ask = (body: Record<string, unknown>) => requestWithdrawal<{ error: string }>(world(), ada, body)
  const refused = async (body: Record<string, unknown>) => {
    const answer = await ask(body)
    return [answer.status, answer.body.error]
  }
  for (const amount of wrongAmounts) {
    t.deepEqual(await refused(amount), [400, 'Invalid amount'], JSON.stringify(amount))
    t.deepEqual(await refused({ ...amount, bankCode: 'x', accountName: '' }), [400, 'Invalid amount'])
  }
  const wrongBanks = [
    { bankCode: undefined },
    { bankCode: '58' },
    { bankCode: '0580' },
    { bankCode: 58 },
    { accountNumber: '012345678' },
    { accountNumber: '01234567890' },
    { accountNumber: 123_456_789 },
    { accountName: 'A' },
    { accountName: ' A ' },
    { accountName: 'a'.repeat(101) },
    { accountName: null },
  ]
  for (const wrong of wrongBanks)
    t.deepEqual(
      await refused({ amountUSDC: 1e9, ...wrong }),
      [400, 'Bank details required'],
      JSON.stringify(wrong),
    )
  for (const amount of [
    { amountUSDC: 20.000_001 },
    { amountUSDC: 1e300 },
    { amountNGN: 32_000.01 },
    { amountNGN: 1e300 },
  ])
    t.deepEqual(await refused(amount), [400, 'Insufficient Balance'], JSON.stringify(amount))
  // NGN 149.99 less NGN 50 is under NGN 100.
  t.deepEqual(await refused({ amountNGN: 149.99 }), [400, 'Invalid amount'])
  t.is((await ask({ amountNGN: 150 })).status, 200)
  const { request } = world()
  t.is((await request('POST', '/payouts/withdraw', { body: { ...bank, amountUSDC: 1 } })).status, 401)
  t.is((await request('POST', '/payouts/withdraw', { bearer: ada.accessToken, body: {} })).status, 401)
})

test.serial('an idempotency key belongs to one withdrawal', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const key = randomUUID()
  const first = await requestWithdrawal(world(), ada, { amountUSDC: 4 }, key)
  const again = await requestWithdrawal(world(), ada, { amountUSDC: 4 }, key)
  t.deepEqual(again.body, first.body)
  t.is(again.headers['idempotency-hit'], 'true')
  t.is((await requestWithdrawal(world(), ada, { amountUSDC: 5 }, key)).status, 422)
  t.is((await requestWithdrawal(world(), ada, { amountUSDC: 5 }, 'k'.repeat(256))).status, 400)
  t.is((await listHistory(world(), ada)).length, 1)
  t.is((await readBalance(world(), ada)).availableUSDC, 16)
})

test.serial('after a killed web process its withdrawal is found before the lease is asked', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const key = randomUUID()
  const first = await requestWithdrawal(world(), ada, { amountUSDC: 4 }, key)
  // What a process leaves that dies between the commit and its answer.
  await world()
    .db('idempotency_keys')
    .update({ response: null, lease_until: new Date(Date.now() + 60_000) })
  const again = await requestWithdrawal(world(), ada, { amountUSDC: 4 }, key)
  t.is(again.status, 200)
  t.is(again.headers['idempotency-hit'], 'true')
  t.is(again.body.reference, first.body.reference)
  t.is((await requestWithdrawal(world(), ada, { amountUSDC: 5 }, key)).status, 422)
  t.is(countExecutions(world(), first.body.reference), 1)
})

test.serial('a repeated request gets the same refusal under its key', async (t) => {
  const ada = await creatorWithBalance(world(), 20)
  const key = randomUUID()
  world().fiat.fiatpay.faults.setMode({ transfers: 'reject', rejectText: 'Closed account' })
  const ask = () => requestWithdrawal<{ error: string }>(world(), ada, { amountUSDC: 20 }, key)
  t.deepEqual([(await ask()).status, (await ask()).body.error], [502, 'Closed account'])
  world().fiat.fiatpay.faults.reset()
  t.is((await ask()).body.error, 'Closed account')
  t.is((await listHistory(world(), ada)).length, 1)
})
