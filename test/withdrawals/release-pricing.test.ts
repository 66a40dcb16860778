import test from 'ava'
import {
  countExecutions,
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  readBalance,
  reconcileAll,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
test.beforeEach('the rate is 1,600', async () => {
  world().fiat.rates.reset()
  await world().db.raw(`update rates set accepted_at = 'epoch' where value <> 1600`)
})
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

const release = (reference: string, ...args: string[]) =>
  runOpsScript(world(), 'payouts', 'release', reference, ...args)
const confirmed = (of: string) => ['--apply', `--confirm=${of}`, '--reason', 'known']
const sentKobo = (reference: string) =>
  world()
    .fiat.fiatpay.log()
    .transfers.find((line) => line.reference === reference.toLowerCase())?.amountKobo

test.serial('a held withdrawal is priced again at its release when the rate fell', async (t) => {
  const ada = await creatorWithBalance(world(), 200)
  const { reference, amountNGN } = await createWithdrawal(world(), ada, { amountUSDC: 200 })
  t.is(amountNGN, 316_800)
  t.like((await listHistory(world(), ada))[0], { amountNGN: 316_800, promisedNGN: 316_800 })
  world().fiat.rates.set({ NGN: 1500 })
  const plan = await release(reference)
  t.regex(plan.out, /NGN 297,000.00 at the current rate; NGN 316,800.00 were promised/)
  t.like((await listHistory(world(), ada))[0], { amountNGN: 316_800, requiresVerification: true })
  t.is((await release(reference, ...confirmed(reference))).code, 0)
  const row = await world().db('withdrawals').where({ reference }).first()
  t.like(row, {
    gross_kobo: 30_000_000n,
    fee_kobo: 300_000n,
    net_kobo: 29_700_000n,
    promised_kobo: 31_680_000n,
  })
  t.is(Number((await world().db('rates').where({ id: row.rate_id }).first()).value), 1500)
  await sendDuePayouts(world())
  t.is(sentKobo(reference), 29_700_000)
  await until('it is paid', async () => {
    await reconcileAll(world())
    return (await listHistory(world(), ada))[0]?.status === 'completed'
  })
  t.like((await listHistory(world(), ada))[0], {
    amountNGN: 297_000,
    promisedNGN: 316_800,
    systemFeeNGN: 3000,
  })
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 0 })
})

test.serial('a release never sends more than was promised', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const held = [
    await createWithdrawal(world(), ada, { amountUSDC: 200 }),
    await createWithdrawal(world(), ada, { amountNGN: 300_000 }),
  ]
  world().fiat.rates.set({ NGN: 1900 })
  const verify = (...args: string[]) =>
    runOpsScript(world(), 'verify-identity', '--user', ada.user.id, ...args)
  t.is((await verify(...confirmed(ada.user.id))).code, 0)
  await sendDuePayouts(world())
  t.deepEqual(
    held.map(({ reference }) => sentKobo(reference)),
    [31_680_000, 29_700_000],
  )
  for (const { amountNGN, promisedNGN } of await listHistory(world(), ada)) t.is(promisedNGN, amountNGN)
})

test.serial('verify-identity prices what it releases, and shows the promise in the plan', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const { reference } = await createWithdrawal(world(), ada, { amountNGN: 300_000 })
  world().fiat.rates.set({ NGN: 1500 })
  const verify = (...args: string[]) =>
    runOpsScript(world(), 'verify-identity', '--user', ada.user.id, ...args)
  // 300,000 naira are 187.5 dollars at 1,600.
  t.regex((await verify()).out, /NGN 278,437\.50 \(promised NGN 297,000\.00\) {2}would be sent/)
  t.is((await verify(...confirmed(ada.user.id))).code, 0)
  await sendDuePayouts(world())
  t.is(sentKobo(reference), 27_843_750)
})

test.serial('what is worth too little at its release is given back', async (t) => {
  const ada = await creatorWithBalance(world(), 1000)
  for (const amountNGN of [200_000, 200_000, 99_900]) await createWithdrawal(world(), ada, { amountNGN })
  const { reference, requiresVerification } = await createWithdrawal(world(), ada, { amountNGN: 155 })
  t.true(requiresVerification)
  const { availableUSDC } = await readBalance(world(), ada)
  world().fiat.rates.set({ NGN: 1500 })
  t.is((await release(reference, ...confirmed(reference))).code, 0)
  t.is(countExecutions(world(), reference), 0)
  t.like((await listHistory(world(), ada))[0], {
    reference,
    status: 'failed',
    failureReason: 'Below the smallest withdrawal at the current rate',
  })
  t.is((await readBalance(world(), ada)).availableUSDC, availableUSDC + 0.096875)
})

test.serial('the database refuses any other change of a price', async (t) => {
  const ada = await creatorWithBalance(world(), 400)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 200 })
  const sent = await createWithdrawal(world(), ada, { amountUSDC: 10 })
  const change = (of: string, set: string) =>
    world().db.raw(`update withdrawals set ${set} where reference = ?`, [of])
  const lower = 'gross_kobo = gross_kobo - 1, net_kobo = net_kobo - 1, promised_kobo = net_kobo'
  for (const [of, set] of [
    [reference, lower],
    [reference, `${lower}, debit_micro = debit_micro - 1, send_state = 'not_sent'`],
    [reference, `gross_kobo = gross_kobo - 1, net_kobo = net_kobo - 1, send_state = 'not_sent'`],
    [reference, `gross_kobo = gross_kobo + 1, net_kobo = net_kobo + 1, send_state = 'not_sent'`],
    [sent.reference, lower],
    [sent.reference, `account_last_four = '9999'`],
  ] as const)
    await t.throwsAsync(change(of, set), { message: /does not change|keeps its price/ }, set)
  await change(reference, `${lower}, send_state = 'not_sent', due_at = clock_timestamp()`)
  await sendDuePayouts(world())
  t.is(sentKobo(reference), 31_679_999)
})

test.serial('a USDC amount above the balance by more than noise is Insufficient Balance', async (t) => {
  const ada = await creatorWithBalance(world(), 9.5)
  const ask = (amountUSDC: number) =>
    world().request('POST', '/payouts/withdraw', {
      session: ada.session,
      body: { amountUSDC, bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' },
    })
  const refused = await ask(9.500_000_1)
  t.is(`${refused.status} ${refused.body.error}`, '400 Insufficient Balance')
  t.is((await ask(9.500_000_001)).status, 200)
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 9.5 })
})
