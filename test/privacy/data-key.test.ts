import { randomBytes } from 'node:crypto'
import test from 'ava'
import { startTotp } from '../../src/accounts/factors/manage-totp.js'
import { replaceRecoveryCodes, useRecoveryCode } from '../../src/accounts/factors/recovery-codes.js'
import { openTotpSecret } from '../../src/accounts/factors/verify-totp.js'
import { sealedPayers } from '../../src/fiat/intents/payer.js'
import { SealBroken } from '../../src/kernel/aead.js'
import { DataKeys } from '../../src/kernel/personal-data.js'
import { addressHash, openAddress, sealAddress } from '../../src/mail/queue-email.js'
import { openDataKeys } from '../../src/privacy/keys/open-data-keys.js'
import { resealBatch } from '../../src/privacy/keys/reseal.js'
import { accountHash, openAccount } from '../../src/withdrawals/bank-account.js'
import { createFiatIntent } from '../helpers/make/fiat/fiat-tips.js'
import { bank, createWithdrawal, creatorWithBalance } from '../helpers/make/withdrawals.js'
import { runOpsScript, spawnOpsScript } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const fresh = randomBytes(32)
const other = randomBytes(32)
const email = 'payer@example.com'

test.serial('DATA_KEY changes: data are sealed again, hashes stay, wrong values do not start', async (t) => {
  const { db, services } = world()
  const [old] = services.config.dataKeys.given
  const text = (...keys: Buffer[]): string => keys.map((key) => key.toString('base64')).join(',')
  const withKeys = (...keys: Buffer[]) => ({ env: { ...world().env, DATA_KEY: text(...keys) } })
  const open = async (...keys: [Buffer, ...Buffer[]]): Promise<DataKeys> => {
    const dataKeys = new DataKeys(keys)
    await openDataKeys(db, dataKeys)
    return dataKeys
  }
  const refused = (expected: RegExp, ...keys: [Buffer, ...Buffer[]]) =>
    t.throwsAsync(open(...keys), { message: expected })

  // Personal data of every kind.
  const ada = await creatorWithBalance(world(), 30)
  const userId = ada.user.id
  await createFiatIntent(world(), { creatorId: userId, amount: 10, payerEmail: email })
  await createFiatIntent(world(), { creatorId: userId, amount: 10, payerEmail: `second.${email}` })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 10 })
  await startTotp(services, { id: userId, email: 'ada@example.com' })
  const [code = ''] = await services.transact(({ trx }) => replaceRecoveryCodes(trx, services.config, userId))
  await db('data_keys').delete()

  await refused(/has two values, and this database knows neither/, fresh, old)
  t.is((await db('data_keys')).length, 0)
  await open(old)
  await refused(/is not the key that has sealed the personal data/, other)
  const wrong = await spawnOpsScript({ env: { ...world().env, DATA_KEY: text(other) } }, 'src/web')
  t.is(wrong.code, 1)
  t.regex(wrong.err, /DATA_KEY: is not the key that has sealed the personal data in this database/)

  // Every process knows the new one before one seals with it.
  await refused(/has a first value that no process knows yet/, fresh, old)
  await runOpsScript(withKeys(old, other), 'payouts', 'list')
  t.is((await db('data_keys')).length, 1, 'a command registers no key')
  t.is((await open(old, fresh)).sealing, 1)
  await refused(/lacks the key of version 2, which is in use/, old)
  await refused(/lacks the key of version 2/, other, old)
  const both = await open(fresh, old)
  t.is(both.sealing, 2)
  const older = services.config.dataKeys
  t.deepEqual(addressHash(both, email), addressHash(older, email), 'found as before')
  t.throws(() => openAddress(older, sealAddress(both, email)), { instanceOf: SealBroken })

  const early = await runOpsScript(withKeys(old, fresh), 'rotate-data-key', '--apply')
  t.not(early.code, 0)
  t.regex(early.err, /the first value of DATA_KEY is version 1, and version 2 is newer/)
  const plan = await runOpsScript(withKeys(fresh, old), 'rotate-data-key', '--json')
  t.like(JSON.parse(plan.out), { ok: true, sealing: 2, counts: { 'payers.email_sealed': { 1: 2 } } })
  // A run that was killed after its first row.
  const one = await resealBatch(db, both, { ...sealedPayers, batchSize: 1 }, undefined)
  t.is(one.rows, 1)
  const run = await runOpsScript(withKeys(fresh, old), 'rotate-data-key', '--apply')
  t.is(run.code, 0, run.err + run.out)
  t.regex(run.out, /^[4-9] values were sealed again with version 2\n/)
  t.regex(run.out, /payers\.email_sealed, version 2: 2\n[\s\S]*it may be taken out of the settings/)
  t.notRegex(run.out, /version 1:/)

  await refused(/has a first value that rotate-data-key took out of use/, old, fresh)
  await refused(/is not the key that has sealed|lacks the key of version 2/, old)
  const late = {
    email_hash: addressHash(older, 'x@y.zz'),
    email_sealed: sealAddress(older, 'x@y.zz'),
  }
  const outOfUse = { message: /version 1 of the data key is out of use: set the newer key in DATA_KEY/ }
  await t.throwsAsync(db('payers').insert(late), outOfUse)
  const first = db('data_keys').where({ version: 1 })
  const { retired_at: retiredAt } = await first.clone().first()
  await first.clone().update({ retired_at: null })
  await db('payers').insert(late)
  await first.clone().update({ retired_at: retiredAt })
  const stale = db('payers').where({ email_hash: late.email_hash })
  t.is(await stale.clone().update({ email_sealed: late.email_sealed }), 1, 'it may stay as it is')
  await t.throwsAsync(stale.clone().update({ email_sealed: sealAddress(older, 'x@y.zz') }), outOfUse)
  await stale.delete()
  const doctor = await runOpsScript(withKeys(fresh, old), 'scripts/ops/doctor', '--json')
  t.regex(doctor.out, /the second value is out of use, and nothing needs it: set DATA_KEY to the first alone/)

  const dataKeys = await open(fresh)
  const payer = await db('payers')
    .where({ email_hash: addressHash(dataKeys, email) })
    .first()
  t.is(openAddress(dataKeys, payer.email_sealed), email)
  const withdrawal = await db('withdrawals').where({ reference }).first()
  t.deepEqual(withdrawal.account_hash, accountHash({ dataKeys }, bank))
  const stored = { reference, sealedAccount: withdrawal.sealed_account }
  t.like(openAccount({ dataKeys }, stored), { accountNumber: bank.accountNumber })
  await t.throwsAsync(
    db('withdrawals')
      .where({ reference })
      .update({ sealed_account: Buffer.concat([Buffer.of(2), randomBytes(60)]) }),
    { message: /does not change/ },
  )
  const totp = await db('totp_factors').where({ user_id: userId }).first()
  t.is(openTotpSecret({ dataKeys }, userId, totp.sealed_secret).length, 20)
  const used = await services.transact(({ trx }) =>
    useRecoveryCode(trx, { dataKeys }, userId, code.replaceAll('-', '')),
  )
  t.true(used, 'a recovery code from before')
  const audit = await db('audit_log').where({ action: 'rotate-data-key' })
  t.is(audit.length, 1)
})
