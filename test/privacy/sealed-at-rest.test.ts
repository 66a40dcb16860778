import test from 'ava'
import {
  createPayerWalk,
  createPaymentAddressWalk,
  erasePayer,
} from '../../src/fiat/intents/payer-addresses.js'
import { SealBroken } from '../../src/kernel/aead.js'
import { createSealer, DataKeys, keyedHash } from '../../src/kernel/personal-data.js'
import { addressHash, openAddress } from '../../src/mail/sealed-address.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { createAccountWalk } from '../../src/withdrawals/seal-old-accounts.js'
import { openAccount } from '../../src/withdrawals/sealed-account.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { mailerBatch } from '../helpers/make/sign-in/emailed-codes.js'
import {
  creatorWithBalance,
  creditCreator,
  listHistory,
  requestWithdrawal,
  sendDuePayouts,
  storeUnsealed,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { dumpTables, tablesWith } from '../helpers/servers/dump-tables.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, mail: true })
const dataKeys = () => world().services.config.dataKeys

test.serial("a payer's e-mail stands in no table, and the receipt arrives", async (t) => {
  const creator = await registerCreator(world())
  const payerEmail = 'zqx.canary@example.com'
  const body = { creatorId: creator.user.id, amount: 10, payerEmail }
  const { intentId } = await createFiatIntent(world(), body)
  const again = await createFiatIntent(world(), { ...body, payerEmail: 'Zqx.Canary@example.com' })
  payFiatIntent(world(), intentId)
  payFiatIntent(world(), again.intentId, 100)
  await settleIntentNow(world(), intentId)
  await settleIntentNow(world(), again.intentId)
  t.deepEqual(tablesWith(await dumpTables(world().db), ['zqx']), [], 'before the mails are sent')
  await runBatch(mailerBatch(world()))
  t.is(world().mail.received(payerEmail).length, 2)
  t.deepEqual(tablesWith(await dumpTables(world().db), ['zqx']), [], 'after it')
  const payers = await world()
    .db('payers')
    .where({ email_hash: addressHash(dataKeys(), payerEmail) })
  t.is(payers.length, 1, 'one payer')
  t.is(openAddress(dataKeys(), payers[0].email_sealed), payerEmail)
})

test.serial('addresses that the release before has stored are sealed, and receipts go there', async (t) => {
  const { db, services } = world()
  const creator = await registerCreator(world())
  const payerEmail = 'old.canary@example.com'
  // As the release before stores them.
  const [payer] = await db('payers').insert({ email: payerEmail }).returning('id')
  const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  await db('fiat_intents').where({ id: intentId }).update({ payer_id: payer.id, payer_email: payerEmail })
  const found = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10, payerEmail })
  t.is((await db('fiat_intents').where({ id: found.intentId }).first()).payer_id, payer.id)
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  t.deepEqual(tablesWith(await dumpTables(db), ['old.canary']), ['emails', 'fiat_intents', 'payers'])
  await runBatch(mailerBatch(world()))
  t.is(world().mail.received(payerEmail).length, 1)
  await db('emails').delete()

  await createPayerWalk(services)()
  await createPaymentAddressWalk(services)()
  t.deepEqual(tablesWith(await dumpTables(db), ['old.canary']), [])
  payFiatIntent(world(), found.intentId)
  await settleIntentNow(world(), found.intentId)
  await runBatch(mailerBatch(world()))
  t.is(world().mail.received(payerEmail).length, 2, 'of the sealed row')
})

/** Whether the hour of the deploy, in which the release before reads plain columns, is over. */
async function endHour(over: boolean): Promise<void> {
  await world().db.raw(
    `create or replace function personal_data_sealed() returns boolean language sql stable as $f$ select ${over} $f$`,
  )
}

test.serial(
  'in the hour of the deploy addresses of payers are stored plain too, and then sealed',
  async (t) => {
    const { db, services } = world()
    const creator = await registerCreator(world())
    const payerEmail = 'hour.canary@example.com'
    await endHour(false)
    t.teardown(() => endHour(true))
    const body = { creatorId: creator.user.id, amount: 10, payerEmail }
    const intents = await Promise.all(Array.from({ length: 4 }, () => createFiatIntent(world(), body)))
    const payers = () => db('payers').where({ email_hash: addressHash(dataKeys(), payerEmail) })
    const [payer, ...others] = await payers()
    t.deepEqual(others, [])
    t.is(payer.email, payerEmail, 'the settler of the release before sends the receipt there')
    for (const { intentId } of intents)
      t.is((await db('fiat_intents').where({ id: intentId }).first()).payer_id, payer.id)
    const walk = createPayerWalk(services)
    await walk()
    t.is((await payers())[0].email, payerEmail, 'the hour is not over')
    await endHour(true)
    await walk()
    const [sealed] = await payers()
    t.is(sealed.email, null)
    t.is(openAddress(dataKeys(), sealed.email_sealed), payerEmail)
  },
)

test.serial('a walk reads its table in lots and begins again at the start', async (t) => {
  const { db, services } = world()
  await db.raw(
    `insert into payers (email) select 'many-' || i || '@example.com' from generate_series(1, 1500) i`,
  )
  const plain = async () => Number((await db('payers').whereNotNull('email').count().first())?.['count'])
  const walk = createPayerWalk(services)
  await walk()
  const left = await plain()
  t.true(left > 0 && left < 1500, `${left} are left`)
  await walk()
  await walk()
  t.is(await plain(), 0)
})

test.serial(
  'the address of a payer is erased after RETAIN_PAYER_EMAILS_DAYS, and never without the setting',
  async (t) => {
    const { db, services } = world()
    await db('payers')
      .delete()
      .whereNotIn('id', db('fiat_intents').whereNotNull('payer_id').select('payer_id'))
    const config = { ...services.config, retention: { emailsDays: 30, payerEmailsDays: 400 } }
    const day = (days: number) => db.raw(`now() - ? * interval '1 day'`, [days])
    const keep = { email_hash: Buffer.alloc(32, 1), email_sealed: Buffer.alloc(40, 1) }
    const inserted = await db('payers')
      .insert([
        { ...keep, created_at: day(500), last_tip_at: day(399) },
        { ...keep, created_at: day(500), last_tip_at: day(401) },
        { ...keep, created_at: day(401), last_tip_at: null },
      ])
      .returning('id')
    const kept = async () => {
      const rows = await db('payers')
        .whereIn(
          'id',
          inserted.map(({ id }) => id),
        )
        .orderBy('id')
      return rows.map((row) => row.email_sealed !== null && row.email_hash !== null)
    }
    await createPayerWalk(services)()
    t.deepEqual(await kept(), [true, true, true])
    await createPayerWalk({ ...services, config })()
    t.deepEqual(await kept(), [true, false, false])
  },
)

test.serial('a payer who asks is erased, and a later tip makes a new row', async (t) => {
  const { db, services } = world()
  const creator = await registerCreator(world())
  const body = { creatorId: creator.user.id, amount: 10, payerEmail: 'gone@example.com' }
  const { intentId } = await createFiatIntent(world(), body)
  t.is(await services.transact(({ trx }) => erasePayer(trx, services, body.payerEmail)), 1)
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  await runBatch(mailerBatch(world()))
  t.deepEqual(world().mail.received(body.payerEmail), [])
  await createFiatIntent(world(), body)
  t.is((await db('payers').where({ email_hash: addressHash(dataKeys(), body.payerEmail) })).length, 1)
})

test.serial('a bank account stands in no table, and is paid', async (t) => {
  const { db, services } = world()
  const account = { accountNumber: '9182736450', accountName: 'Zqx Holder' }
  const ada = await creatorWithBalance(world(), 30)
  const { body } = await requestWithdrawal(world(), ada, { amountUSDC: 10, ...account })
  await sendDuePayouts(world())
  await runBatch(mailerBatch(world()))
  const canaries = [account.accountNumber, 'zqx']
  t.deepEqual(tablesWith(await dumpTables(db), canaries), [])
  t.is(world().fiat.fiatpay.log().transfers.at(-1)?.accountNumber, account.accountNumber)
  const [payout] = (await listHistory(world(), ada)) as unknown as Record<string, unknown>[]
  t.like(payout, { accountNumber: '******6450', accountName: account.accountName })
  const shown = await runOpsScript(world(), 'payouts', 'show', body.reference)
  t.regex(shown.out, /account \*{6}6450, Zqx Holder\n {2}name at the bank +[SZ]/)
  t.false((await runOpsScript(world(), 'payouts', 'show', body.reference, '--json')).out.includes('sealed'))

  // Bound to its withdrawal: whoever writes the database cannot have another account paid.
  await creditCreator(world(), ada.user.id, 10_000_000n)
  const other = await requestWithdrawal(world(), ada, { amountUSDC: 10 })
  const rows = await db('withdrawals').whereIn('reference', [body.reference, other.body.reference])
  const [one, two] = rows
  await t.throwsAsync(
    db('withdrawals').where({ id: two.id }).update({ sealed_account: one.sealed_account }),
    {
      message: /does not change/,
    },
  )
  t.throws(
    () =>
      openAccount(services.config, { ...two, sealedAccount: one.sealed_account, reference: two.reference }),
    {
      instanceOf: SealBroken,
    },
  )
})

test.serial(
  'accounts that the release before has stored are sealed, and not in the hour of the deploy',
  async (t) => {
    const { db, services } = world()
    const ada = await creatorWithBalance(world(), 30)
    // As the release before stores it.
    await endHour(false)
    const { body } = await requestWithdrawal(world(), ada, { amountUSDC: 10, accountNumber: '9182736451' })
    const { reference } = body
    const row = () => db('withdrawals').where({ reference }).first()
    t.is((await row()).account_number, '9182736451', 'for processes of the release before')
    await sendDuePayouts(world())
    await storeUnsealed(world(), ada, { accountNumber: '9182736451', accountName: 'Ada Obi' })
    const history = await listHistory(world(), ada)
    t.is(history[0]?.accountNumber, '******6451')

    const walk = createAccountWalk(services)
    await walk()
    t.is((await row()).account_number, '9182736451', 'the hour is not over')
    await endHour(true)
    await walk()
    t.like(await row(), {
      account_number: null,
      account_name: null,
      resolved_name: null,
      account_last_four: '6451',
    })
    t.deepEqual(await listHistory(world(), ada), history)
    t.is((await db('payees').where({ user_id: ada.user.id })).length, 1, 'its payee is recorded')
    t.deepEqual(tablesWith(await dumpTables(db), ['9182736451']), [])
    t.regex((await runOpsScript(world(), 'payouts', 'show', reference)).out, /name at the bank +Ada Obi/)
  },
)

test('sealed data opens with its key, purpose, context and version only', (t) => {
  const key = new DataKeys([Buffer.alloc(32, 7)])
  const otherKey = new DataKeys([Buffer.alloc(32, 8)])
  const sealer = createSealer(key, 'test/1')
  const sealed = sealer.seal('Ada', 'row 1')
  t.is(sealed[0], 1, 'the version')
  t.is(sealer.open(sealed, 'row 1').toString(), 'Ada')
  t.false(sealer.seal('Ada', 'row 1').equals(sealed), 'not the same twice')
  const other = Buffer.from(sealed)
  other[0] = 2
  for (const open of [
    () => sealer.open(sealed, 'row 2'),
    () => createSealer(key, 'test/2').open(sealed, 'row 1'),
    () => createSealer(otherKey, 'test/1').open(sealed, 'row 1'),
    () => sealer.open(other, 'row 1'),
    () => sealer.open(Buffer.alloc(0), 'row 1'),
  ])
    t.throws(open, { instanceOf: SealBroken })
  t.deepEqual(keyedHash(key, 'payee/1', 'Ada'), keyedHash(key, 'payee/1', 'Ada'))
  t.notDeepEqual(keyedHash(key, 'payee/1', 'Ada'), keyedHash(otherKey, 'payee/1', 'Ada'))
})

test('the settings of retention: e-mails 30 days, addresses of payers for ever', (t) => {
  const { retention } = loadConfig({ ...world().env })
  t.deepEqual(retention, { emailsDays: 30, payerEmailsDays: undefined })
  t.throws(() => loadConfig({ ...world().env, RETAIN_PAYER_EMAILS_DAYS: '7' }), {
    message: /RETAIN_PAYER_EMAILS_DAYS/,
  })
})
