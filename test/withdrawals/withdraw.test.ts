import { randomUUID } from 'node:crypto'
import test from 'ava'
import {
  askWithdrawal,
  balanceOf,
  bank,
  creatorWith,
  executions,
  historyOf,
  reconcileNow,
  rowOf,
  withdrawal,
} from '../helpers/make/payouts.js'
import { createWorkerLoops } from '../helpers/servers/worker-loops.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { brokenNow } from '../ledger/support.js'

/** A worker runs beside the app, as in production; the reconciler is run by the tests. */
const world = useWorld(test, {
  fiat: true,
  mail: true,
  env: { WITHDRAW_WAIT_MS: '4000', PAYOUT_TIMEOUT_MS: '10000' },
})
let worker: { stop(): Promise<void> }
test.beforeEach('a payout worker runs, and the provider behaves', () => {
  world().fiat.fiatpay.behaviour.reset()
  worker = createWorkerLoops(world().services, ['payouts'])
})
test.afterEach.always('it stops', () => worker.stop())
test.afterEach.always('the books hold', async (t) => {
  t.deepEqual(await brokenNow(world().db), [])
})
test.serial('a withdrawal in USDC is priced, held, sent and answered as submitted', async (t) => {
  const ada = await creatorWith(world(), 20)
  const answer = await askWithdrawal(world(), ada, { amountUSDC: 10, accountNumber: '012-345 6789' })
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
  })
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 10, heldUSDC: 10 })
  t.like(world().fiat.fiatpay.log().transfers.at(-1), { amountKobo: 1_584_000, accountNumber: '0123456789' })
})

test.serial('a request that the provider never answers holds up nobody else’s withdrawal', async (t) => {
  const { fiatpay } = world().fiat
  const [ada, ben] = await Promise.all([creatorWith(world(), 20), creatorWith(world(), 20)])
  fiatpay.behaviour.setMode({ transfers: 'timeout' })
  const hers = askWithdrawal(world(), ada, { amountUSDC: 10 })
  const sending = world().db('withdrawals').where({ user_id: ada.user.id, send_state: 'sending' })
  await until('hers is on its way', async () => (await sending).length === 1)
  fiatpay.behaviour.reset()
  const { reference } = await withdrawal(world(), ben, { amountUSDC: 10 })
  await until('his is sent', async () => (await rowOf(world(), reference)).status === 'submitted')
  t.is((await sending).length, 1, 'hers is still on its way')
  t.is((await hers).body.status, 'pending')
})

test.serial('a withdrawal in NGN is gross, and debited as USDC rounded up', async (t) => {
  const ada = await creatorWith(world(), 20)
  const { body } = await askWithdrawal(world(), ada, { amountNGN: 1000.01 })
  t.like(body, { amountNGN: 950.01, systemFeeNGN: 50, currency: 'NGN', status: 'submitted' })
  t.false('amountUSDC' in body)
  // 1000.01 / 1600 = 0.62500625, rounded up to the micro-unit.
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 19.374993, heldUSDC: 0.625007 })
})

test.serial('the history shows every state a withdrawal was walked through', async (t) => {
  const ada = await creatorWith(world(), 20)
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'manual' })
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
  t.like((await historyOf(world(), ada))[0], { status: 'submitted', processingAt: null })
  await reconcileNow(world())
  t.like((await historyOf(world(), ada))[0], { status: 'processing', completedAt: null })
  const transfer = world().fiat.fiatpay.transfers.find(reference)
  if (transfer !== undefined) world().fiat.fiatpay.moveTransfer(transfer, 'success')
  await reconcileNow(world())
  const [paid] = await historyOf(world(), ada)
  t.like(paid, { reference, status: 'completed', accountNumber: '******6789', failureReason: null })
  t.true(
    [paid?.createdAt, paid?.submittedAt, paid?.processingAt, paid?.completedAt].every(
      (at) => typeof at === 'string',
    ),
  )
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
  await until('nothing is left to do', async () => {
    await reconcileNow(world())
    return (await rowOf(world(), reference)).due_at === null
  })
})

test.serial(
  'a refusal of the payee answers 502 with the provider’s text, and the balance is whole',
  async (t) => {
    const ada = await creatorWith(world(), 20)
    world().fiat.fiatpay.behaviour.setMode({
      transfers: 'reject',
      rejectText: `No\u202e such\u0007 account ${'x'.repeat(300)}`,
    })
    const answer = await askWithdrawal<{ error: string; code: string }>(world(), ada, { amountUSDC: 20 })
    t.is(answer.status, 502)
    t.is(answer.body.error, `No such account ${'x'.repeat(300)}`.slice(0, 200))
    t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
    const [failed] = await historyOf(world(), ada)
    t.like(failed, { status: 'failed', failureReason: answer.body.error, submittedAt: null })
  },
)

test.serial('another name on the account is the provider’s to refuse', async (t) => {
  const ada = await creatorWith(world(), 20)
  const answer = await askWithdrawal<{ error: string }>(world(), ada, {
    amountUSDC: 20,
    accountNumber: '0000000001',
  })
  t.is(answer.status, 502)
  t.is(answer.body.error, 'Account name mismatch')
})

test.serial('an account that does not resolve is sent to all the same: the name is only noted', async (t) => {
  const ada = await creatorWith(world(), 20)
  const odd = await withdrawal(world(), ada, { amountUSDC: 5, accountNumber: '0000000000' })
  t.like(await rowOf(world(), odd.reference), { status: 'submitted', resolved_name: null })
  const known = await withdrawal(world(), ada, { amountUSDC: 5 })
  t.is((await rowOf(world(), known.reference)).resolved_name, 'Ada Obi')
})

test.serial('our own faults are pending, never a refusal', async (t) => {
  const ada = await creatorWith(world(), 20)
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'no-float' })
  const { reference, status } = await withdrawal(world(), ada, { amountUSDC: 20 })
  t.is(status, 'pending')
  t.like(await rowOf(world(), reference), { send_state: 'not_sent', sends: 0 })
  t.is(executions(world(), reference), 0)
})

test.serial('a bank that the provider does not know is refused in its words', async (t) => {
  const ada = await creatorWith(world(), 20)
  const answer = await askWithdrawal<{ error: string }>(world(), ada, { amountUSDC: 20, bankCode: '999' })
  t.is(answer.status, 502)
  t.is(answer.body.error, 'Unknown bank code: 999')
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
test.serial('refusals come in the contract’s order', async (t) => {
  const ada = await creatorWith(world(), 20)
  const ask = (body: Record<string, unknown>) => askWithdrawal<{ error: string }>(world(), ada, body)
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

test.serial('a key stands for one withdrawal', async (t) => {
  const ada = await creatorWith(world(), 20)
  const key = randomUUID()
  const first = await askWithdrawal(world(), ada, { amountUSDC: 4 }, key)
  const again = await askWithdrawal(world(), ada, { amountUSDC: 4 }, key)
  t.deepEqual(again.body, first.body)
  t.is(again.headers['idempotency-hit'], 'true')
  t.is((await askWithdrawal(world(), ada, { amountUSDC: 5 }, key)).status, 422)
  t.is((await askWithdrawal(world(), ada, { amountUSDC: 5 }, 'k'.repeat(256))).status, 400)
  t.is((await historyOf(world(), ada)).length, 1)
  t.is((await balanceOf(world(), ada)).availableUSDC, 16)
})

test.serial('a refusal after the hold is the same under its key, however often it is asked', async (t) => {
  const ada = await creatorWith(world(), 20)
  const key = randomUUID()
  world().fiat.fiatpay.behaviour.setMode({ transfers: 'reject', rejectText: 'Closed account' })
  const ask = () => askWithdrawal<{ error: string }>(world(), ada, { amountUSDC: 20 }, key)
  t.deepEqual([(await ask()).status, (await ask()).body.error], [502, 'Closed account'])
  world().fiat.fiatpay.behaviour.reset()
  t.is((await ask()).body.error, 'Closed account')
  t.is((await historyOf(world(), ada)).length, 1)
})
