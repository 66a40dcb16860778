import test from 'ava'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  readPlatformBalance,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { listTips } from '../../helpers/make/tips.js'
import { runOpsScript, type ScriptRun } from '../../helpers/run-ops-script.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

const suspense = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'suspense', ...args)

async function report(...args: string[]) {
  const { code, out } = await suspense('--json', ...args)
  return { code, ...JSON.parse(out) }
}

/** Pays too few kobo. Returns the provider's id of the payment. */
async function payTooLittle(
  { user }: TestCreator,
  kobo: number,
): Promise<{ intentId: string; payment: string }> {
  const tip = { creatorId: user.id, amount: 10, senderName: 'Bola', memo: 'well done' }
  const { intentId } = await createFiatIntent(world(), tip)
  payFiatIntent(world(), intentId, kobo)
  await settleIntentNow(world(), intentId)
  const row = await world().db('fiat_payments').where({ intent_id: intentId }).first()
  return { intentId, payment: row.provider_transaction }
}

test.afterEach.always('the ledger is consistent, and its suspense account equals the items', async (t) => {
  const { code, waiting, ledger } = await report()
  t.is(code, waiting === '0' ? 0 : 4)
  t.is(waiting, ledger)
  t.is(BigInt(waiting), await readPlatformBalance(world(), 'suspense', 'NGN'))
  t.true((await checkBooks(world().db)).holds)
  t.deepEqual(await differingSums(world().db), [], 'the daily figures match the tips')
})

test.serial('suspense lists waiting payments, and records a return once, with --apply', async (t) => {
  const creator = await registerCreator(world())
  const { intentId, payment } = await payTooLittle(creator, 123_456)
  const before = await report()
  const item = before.items.find((one: { transaction: string }) => one.transaction === payment)
  t.like(item, { intentId, kobo: '123456', reason: 'underpaid', resolution: null })
  t.regex((await suspense()).out, /NGN 1,234\.56 {2}underpaid/)

  const returned = ['--returned', payment, '--reason', 'refund 77']
  t.like(await report(...returned), { code: 0, applied: false, kobo: '123456' })
  t.is((await report()).waiting, before.waiting, 'a plan changes nothing')
  t.is((await suspense(...returned, '--apply', '--as', 'ngozi')).code, 0)
  const again = await suspense(...returned, '--apply')
  t.is(again.code, 1)
  t.regex(again.err, /is not waiting/)
  const expected = { code: 1, ok: false, error: again.err.trimEnd(), exitCode: 1 }
  t.deepEqual(await report(...returned, '--apply'), expected)
  t.is(BigInt(before.waiting) - BigInt((await report()).waiting), 123_456n)
  t.regex((await suspense('--all')).out, /returned: refund 77/)
  t.is(await readAvailableUsdc(world(), creator), 0)
  t.like(
    await world()
      .db('audit_log')
      .where({ subject: `payment:${payment}` })
      .first(),
    {
      actor: 'ngozi',
      action: 'suspense',
      details: { as: 'returned', reason: 'refund 77', kobo: '123456' },
    },
  )
})

test.serial('an assigned payment becomes part of its tip once, at the rate that gives less', async (t) => {
  const creator = await registerCreator(world())
  const { intentId, payment } = await payTooLittle(creator, 152_000)
  const [failed] = await listTips(world(), creator.user.id)
  t.like(failed, { status: 'failed', receivedAmount: null })
  await world().db('rates').insert({
    pair: 'USD/NGN',
    value: 1900,
    source: 'feed',
    as_of: new Date(),
    accepted_at: new Date(),
    accepted_by: 'feed',
  })
  const assign = ['--assign', payment, '--reason', 'the payer agrees']
  t.like(await report(...assign), { applied: false, creditMicro: '800000', userId: creator.user.id })
  t.is(await readAvailableUsdc(world(), creator), 0)
  // Of two operators at the same time one is too late.
  const codes = await Promise.all([suspense(...assign, '--apply'), suspense(...assign, '--apply')])
  t.deepEqual(codes.map(({ code }) => code).sort(), [0, 1])
  t.is(await readAvailableUsdc(world(), creator), 0.8)
  t.is(await readFiatStatus(world(), intentId), 'completed')
  t.like((await listTips(world(), creator.user.id))[0], {
    status: 'confirmed',
    sender: 'Bola',
    message: 'well done',
    receivedAmount: 0.8,
    fiatDetails: { platformFee: 0.04, finalAmountUsd: 0.8, amountNgn: 1520 },
  })
  const { body } = await world().request<{ transactions: unknown[] }>(
    'GET',
    '/creators/transactions',
    creator,
  )
  t.like(body.transactions[0], { type: 'credit', reference: intentId, amountUSDC: 0.8 })
  t.is(
    (
      await world()
        .db('audit_log')
        .where({ subject: `payment:${payment}` })
    ).length,
    1,
  )
})

test.serial('an assigned surplus is added to its tip', async (t) => {
  const creator = await registerCreator(world())
  await setRows(world(), 'rates', { value: 1900 }, { accepted_at: new Date(0) })
  const { intentId, payment } = await payTooLittle(creator, 1_680_000)
  t.like((await listTips(world(), creator.user.id))[0], { amount: 10, receivedAmount: 9.5 })
  t.is((await suspense('--assign', payment, '--reason', 'the payer agrees', '--apply')).code, 0)
  t.like((await listTips(world(), creator.user.id))[0], {
    status: 'confirmed',
    amount: 11,
    receivedAmount: 10.5,
    fiatDetails: { platformFee: 0.5, finalAmountUsd: 10.5, amountNgn: 16_800 },
  })
  t.is(await readAvailableUsdc(world(), creator), 10.5)
  t.is(await readFiatStatus(world(), intentId), 'completed')
})

test.serial('suspense exits with 4 while something waits', async (t) => {
  for (const { transaction } of (await report()).items)
    await suspense('--returned', transaction, '--reason', 'refund 1', '--apply')
  t.is((await suspense()).code, 0)
  t.like(await report(), { code: 0, ok: true })
  const { payment } = await payTooLittle(await registerCreator(world()), 5000)
  t.is((await suspense()).code, 4)
  t.like(await report(), { code: 4, ok: false })
  await suspense('--returned', payment, '--reason', 'refund 2', '--apply')
  t.like(await report(), { code: 0, ok: true })
})

test.serial('invalid arguments end with 2 and change nothing', async (t) => {
  const { payment } = await payTooLittle(await registerCreator(world()), 5000)
  const { waiting } = await report()
  for (const args of [
    ['--returned', payment, '--apply'],
    ['--assign', payment, '--reason', ' ', '--apply'],
    ['--assign', payment, '--returned', payment, '--reason', 'x', '--apply'],
    ['--asign', payment],
  ]) {
    const { code, out, err } = await suspense(...args)
    t.is(code, 2, args.join(' '))
    t.is(out, '')
    t.not(err, '')
    t.deepEqual(await report(...args), { code: 2, ok: false, error: err.trimEnd(), exitCode: 2 })
  }
  t.is((await suspense('--assign', '12345', '--reason', 'x', '--apply')).code, 1)
  t.is((await report()).waiting, waiting)
  const help = await suspense('--help')
  t.is(help.code, 0)
  t.regex(help.out, /--assign <payment>/)
})
