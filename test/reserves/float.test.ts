import test from 'ava'
import { recordStartingFloat } from '../../scripts/dev/starting-float.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { findLastReading } from '../../src/reserves/float/float-readings.js'
import { createFloatReader } from '../../src/reserves/float/read-float.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { registerCreator } from '../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readPlatformBalance,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'
import {
  createWithdrawal,
  creatorWithBalance,
  followOutcome,
  readWithdrawalRow,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { setProviderBalance } from './support.js'

const world = useWorld(test, { fiat: true })

const naira = (kind: string) => readPlatformBalance(world(), kind, 'NGN')
const providerBalance = () => BigInt(world().fiat.fiatpay.balanceKobo)
const read = () => createFloatReader(as('clock', world().services))()

/** A naira tip that was paid and settled. Returns what was paid. */
async function paidTip(): Promise<bigint> {
  const creator = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), {
    creatorId: creator.user.id,
    amount: 10,
    displayName: 'Ada',
    email: 'ada@example.com',
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const { kobo } = await world().db('fiat_payments').where({ intent_id: intentId }).first('kobo')
  return kobo
}

const treasury = (...args: string[]) => runOpsScript(world(), 'treasury', ...args)
const applied = ['--apply', '--reason', 'a test'] as const

test.serial('npm run dev records what the bank stand-in starts with once, and nothing differs', async (t) => {
  const start = providerBalance()
  const url = world().env['DATABASE_URL'] ?? ''
  for (let n = 1; n <= 2; n++) await recordStartingFloat(url)
  t.is(await naira('equity'), start)
  t.like(await read(), { arrived: start, unexplained: 0n })
  const out = ['record-equity', '--ngn', String(start / 100n), '--out', '--evidence', 'taken out']
  t.is((await treasury(...out, ...applied)).code, 0)
  await recordStartingFloat(url)
  t.is(await naira('equity'), 0n, 'what the owners took out stays out')
  t.is(await naira('float_ngn'), 0n)
  const [audit] = await world().db('audit_log').where({ actor: 'npm run dev' })
  t.is(audit?.action, 'treasury record-equity')
})

test.serial('an empty installation reads its balance, books nothing and alarms about nothing', async (t) => {
  world().fiat.fiatpay.faults.setMode({ fees: 'on', transfers: 'manual' })
  await setProviderBalance(world(), 0n)
  const reading = await read()
  t.like(reading, { balance: 0n, book: 0n, settled: 0n, arrived: 0n, unexplained: 0n })
  for (const kind of ['float_low', 'float_differs']) t.is(await countAlerts(world(), kind), 0)
})

test.serial('the provider’s fee is booked with the payment; the rest moves with the balance', async (t) => {
  const paid = await paidTip()
  const fee = paid - providerBalance()
  t.true(fee > 0n)
  t.is(await naira('collections_receivable'), fee - paid)
  t.is(await naira('provider_fees'), -fee)
  t.is(await naira('float_ngn'), 0n)
  const readings = await Promise.all([read(), read(), read()])
  t.is(readings.filter((reading) => reading !== undefined && reading.settled > 0n).length, 1, 'moved once')
  t.is(await naira('collections_receivable'), 0n)
  t.is(await naira('float_ngn'), -(paid - fee))
  const again = await read()
  t.like(again, { settled: 0n, unexplained: 0n, book: paid - fee })
  t.true((await checkBooks(world().db)).holds)
})

test.serial('money of the owners is in transit until the balance shows it', async (t) => {
  const before = providerBalance()
  const args = ['record-equity', '--ngn', '1000000', '--evidence', 'transfer 17']
  const plan = await treasury(...args)
  t.is(plan.code, 0)
  t.regex(plan.out, /not recorded yet/)
  t.is(await naira('in_transit'), 0n)
  const done = await treasury(...args, ...applied)
  t.is(done.code, 0, done.err)
  t.regex((await treasury(...args, ...applied)).out, /recorded before/)
  t.is(await naira('equity'), 100_000_000n)
  t.is(await naira('in_transit'), -100_000_000n)
  t.like(await read(), { arrived: 0n, unexplained: 0n })
  await setProviderBalance(world(), before + 100_000_000n)
  t.like(await read(), { arrived: 100_000_000n, unexplained: 0n })
  t.is(await naira('in_transit'), 0n)
  t.is(await naira('float_ngn'), -(before + 100_000_000n))
})

test.serial('with a payout under way too little moves, and all of it once it is booked', async (t) => {
  const start = providerBalance()
  const ada = await creatorWithBalance(world(), 20)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  await sendDuePayouts(world())
  const taken = start - providerBalance()
  const { net_kobo: net } = await world().db('withdrawals').where({ reference }).first('net_kobo')
  const fee = taken - net
  t.true(fee > 0n)
  t.like(await read(), { settled: 0n, unexplained: 0n }, 'the lack is under way')
  await paidTip()
  const open = -(await naira('collections_receivable'))
  t.true(open > 0n && open < taken)
  t.like(await read(), { settled: 0n, unexplained: 0n }, 'whether it has settled cannot be seen')
  const fees = await naira('provider_fees')
  await followOutcome(world(), reference, 'success')
  t.is((await readWithdrawalRow(world(), reference)).status, 'completed')
  t.is((await naira('provider_fees')) - fees, -fee)
  t.like(await read(), { settled: open, unexplained: 0n })
  t.is(await naira('float_ngn'), -providerBalance())

  // The money comes back, and the provider's fee with it.
  await followOutcome(world(), reference, 'reversed')
  await runOpsScript(world(), 'payouts', 'ask', reference)
  const answer = await runOpsScript(
    world(),
    'payouts',
    'recredit',
    reference,
    '--now',
    '--confirm',
    reference,
    ...applied,
  )
  t.is(answer.code, 0, answer.err)
  t.is(await naira('provider_fees'), fees)
  t.is(await naira('float_ngn'), -providerBalance())
  t.like(await read(), { settled: 0n, arrived: 0n, unexplained: 0n })
})

test.serial('an unexplained difference alarms after an hour, and is booked as what it was', async (t) => {
  await setProviderBalance(world(), providerBalance() - 5000n)
  t.like(await read(), { unexplained: -5000n })
  t.is(await countAlerts(world(), 'float_differs'), 0, 'it may be a matter of minutes')
  await world().db.raw(`update float_readings set read_at = read_at - interval '2 hours'`)
  await read()
  t.is(await countAlerts(world(), 'float_differs'), 1)
  const shown = await treasury()
  t.is(shown.code, 0, shown.err)
  t.regex(shown.out, /not explained +NGN 50\.00 less than the books/)
  const fee = ['record-fee', '--ngn', '50', '--evidence', 'stamp duty', '--reference', 'duty-1']
  t.is((await treasury(...fee, ...applied)).code, 0)
  t.like(await read(), { unexplained: 0n })
  const other = await treasury(
    'record-fee',
    '--ngn',
    '51',
    '--evidence',
    'x',
    '--reference',
    'duty-1',
    ...applied,
  )
  t.is(other.code, 1)
  t.regex(other.err, /something else was recorded/)
})

test.serial('the float is low when it does not pay what waits and another day', async (t) => {
  t.is(await countAlerts(world(), 'float_low'), 0)
  await world().db.raw('alter table withdrawals disable trigger user')
  await world()
    .db('withdrawals')
    .update({ created_at: new Date(Date.now() - 2 * 86_400_000) })
  await world().db.raw('alter table withdrawals enable trigger user')
  const { net_kobo: day } = await world().db('withdrawals').first('net_kobo')
  await setProviderBalance(world(), day)
  await read()
  t.is(await countAlerts(world(), 'float_low'), 0)
  await setProviderBalance(world(), day - 1n)
  await read()
  t.is(await countAlerts(world(), 'float_low'), 1)
  const shown = JSON.parse((await treasury('--json')).out)
  t.is(shown.dailyPayouts, String(day))
  t.is(shown.float.balance, String(day - 1n))
})

test.serial('USDC is sold once per reference, and only what the treasury has', async (t) => {
  const sale = [
    'record-sale',
    '--usdc',
    '100.5',
    '--ngn',
    '160000',
    '--evidence',
    'order 9',
    '--reference',
    'order-9',
  ]
  const refused = await treasury(...sale, ...applied)
  t.is(refused.code, 1)
  t.regex(refused.err, /the ledger's treasury has 0 USDC/)
  t.is((await treasury('record-equity', '--usdc', '150', '--evidence', 'fees', ...applied)).code, 0)
  const fx = await readPlatformBalance(world(), 'fx', 'USDC')
  const sold = await Promise.all([treasury(...sale, ...applied), treasury(...sale, ...applied)])
  t.deepEqual(
    sold.map(({ code }) => code),
    [0, 0],
  )
  t.is(sold.filter(({ out }) => /recorded before/.test(out)).length, 1)
  t.is(await readPlatformBalance(world(), 'treasury', 'USDC'), -49_500_000n)
  t.is((await readPlatformBalance(world(), 'fx', 'USDC')) - fx, -100_500_000n)
  t.is(await naira('in_transit'), -16_000_000n)
  const audits = await world().db('audit_log').where({ action: 'treasury record-sale' })
  t.is(audits.length, 1)
  t.like(audits[0], {
    subject: 'record:order-9',
    details: { micro: '100500000', kobo: '16000000', evidence: 'order 9' },
  })
  for (const wrong of [
    ['--usdc', '1.0000001', '--ngn', '1'],
    ['--usdc', '0', '--ngn', '1'],
    ['--ngn', '1'],
  ])
    t.is((await treasury('record-sale', ...wrong, '--evidence', 'x')).code, 2)
  t.true((await checkBooks(world().db)).holds)
})

test.serial('a provider without an answer stores nothing, and the clock tries again', async (t) => {
  const last = await findLastReading(world().db)
  world().fiat.fiatpay.faults.setFault({ refuseKey: true })
  t.is(await read(), undefined)
  t.is(await countAlerts(world(), 'fiatpay_away'), 1)
  t.is((await findLastReading(world().db))?.id, last?.id)
  world().fiat.fiatpay.faults.setFault({ refuseKey: false })
  t.truthy(await read())
})
