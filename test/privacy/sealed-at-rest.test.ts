import test from 'ava'
import { eraseOldPayers, erasePayer } from '../../src/fiat/intents/payer.js'
import { SealBroken } from '../../src/kernel/aead.js'
import { createSealer, DataKeys, keyedHash } from '../../src/kernel/personal-data.js'
import { addressHash, openAddress } from '../../src/mail/queue-email.js'
import { loadConfig } from '../../src/platform/config/config.js'
import { openAccount } from '../../src/withdrawals/bank-account.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { mailerBatch } from '../helpers/make/sign-in/emailed-codes.js'
import {
  creatorWithBalance,
  creditCreator,
  listHistory,
  requestWithdrawal,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { dumpTables, tablesWith } from '../helpers/servers/dump-tables.js'
import { as } from '../helpers/servers/roles.js'
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
  t.deepEqual(tablesWith(await dumpTables(world().db), ['zqx.canary']), [], 'before the mails are sent')
  await runBatch(mailerBatch(world()))
  t.is(world().mail.received(payerEmail).length, 2)
  t.deepEqual(tablesWith(await dumpTables(world().db), ['zqx.canary']), [], 'after it')
  const payers = await world()
    .db('payers')
    .where({ email_hash: addressHash(dataKeys(), payerEmail) })
  t.is(payers.length, 1, 'one payer')
  t.is(openAddress(dataKeys(), payers[0].email_sealed), payerEmail)
})

test.serial('the address of a payer is erased after RETAIN_PAYER_EMAILS_DAYS', async (t) => {
  const { db, services } = world()
  await db('payers').delete().whereNotIn('id', db('fiat_intents').whereNotNull('payer_id').select('payer_id'))
  const config = { ...services.config, retention: { payerEmailsDays: 400 } }
  const day = (days: number) => db.raw(`now() - ? * interval '1 day'`, [days])
  const keep = { email_hash: Buffer.alloc(32, 1), email_sealed: Buffer.alloc(40, 1) }
  const inserted = await db('payers')
    .insert([
      { ...keep, created_at: day(500), last_tip_at: day(399) },
      { ...keep, created_at: day(500), last_tip_at: day(401) },
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
  await eraseOldPayers(as('clock', services))
  t.deepEqual(await kept(), [true, true])
  await eraseOldPayers({ ...as('clock', services), config })
  t.deepEqual(await kept(), [true, false])
})

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
  const account = { accountNumber: '9182736450', accountName: 'Zqxcanary Holder' }
  const ada = await creatorWithBalance(world(), 30)
  const { body } = await requestWithdrawal(world(), ada, { amountUSDC: 10, ...account })
  await sendDuePayouts(world())
  await runBatch(mailerBatch(world()))
  const canaries = [account.accountNumber, 'zqxcanary']
  t.deepEqual(tablesWith(await dumpTables(db), canaries), [])
  t.is(world().fiat.fiatpay.log().transfers.at(-1)?.accountNumber, account.accountNumber)
  const [payout] = (await listHistory(world(), ada)) as unknown as Record<string, unknown>[]
  t.like(payout, { accountNumber: '******6450', accountName: account.accountName })
  const shown = await runOpsScript(world(), 'payouts', 'show', body.reference)
  t.regex(shown.out, /account \*{6}6450, Zqxcanary Holder\n {2}name at the bank +[SZ]/)
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
  key.use({ sealing: 1, byVersion: new Map([[1, Buffer.alloc(32, 8)]]), hashKeys: key.hashKeys })
  t.throws(() => sealer.open(sealed, 'row 1'), { instanceOf: SealBroken }, 'no key that was made before')
  t.is(createSealer(otherKey, 'test/1').open(sealer.seal('Ada', 'row 1'), 'row 1').toString(), 'Ada')
})

test('without its setting addresses of payers are kept for ever', (t) => {
  const { retention } = loadConfig({ ...world().env })
  t.deepEqual(retention, { payerEmailsDays: undefined })
  t.throws(() => loadConfig({ ...world().env, RETAIN_PAYER_EMAILS_DAYS: '7' }), {
    message: /RETAIN_PAYER_EMAILS_DAYS/,
  })
})
