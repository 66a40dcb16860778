import test from 'ava'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settlementBatch } from '../helpers/make/fiat/fiat-tips.js'
import { createWithdrawal, creatorWithBalance, sendDuePayouts } from '../helpers/make/withdrawals.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, proxies: true })

/** The statements that only guards run. */
const ofGuards =
  /^(card-reserves\.|switches\.|identity\.(lock-payee|young|account_hash|name_hash)|payouts\.(wait|.*-room))/

test.serial('under contract nothing asks for a confirmation, unless there is a factor', async (t) => {
  const { db } = world()
  const ada = await creatorWithBalance(world(), 100)
  const heldFor = async (accountNumber: string) =>
    (await createWithdrawal(world(), ada, { amountUSDC: 5, accountNumber })).heldFor
  t.is(await heldFor('0123456789'), null)
  await sendDuePayouts(world())
  t.is(await heldFor('1111111111'), null, 'a second bank account')
  await db('users').where({ id: ada.user.id }).update({ factors_changed_at: new Date() })
  t.is(await heldFor('2222222222'), null, 'after a change')
  await db('passkeys').insert({
    user_id: ada.user.id,
    credential_id: Buffer.from('one'),
    public_key: Buffer.from('key'),
    label: 'key',
  })
  t.is(await heldFor('3333333333'), 'confirmation')
})

test.serial('under contract a card tip and its withdrawal run no statement of the guards', async (t) => {
  const { db, fiat, proxies, services } = world()
  fiat.fiatpay.faults.setFault({ webhooks: { copies: 0 } })
  const ada = await registerCreator(world())
  const { intentId } = await createFiatIntent(world(), { creatorId: ada.user.id, amount: 10 })
  payFiatIntent(world(), intentId)
  await db('fiat_intents').update({ due_at: new Date(0) })
  const statements = await proxies.sql.during(async () => {
    // One batch: the worker looks for card money only when no intent is due.
    await settlementBatch({ services })()
    await createWithdrawal(world(), ada, { amountUSDC: 9.5 })
    await sendDuePayouts(world())
  })
  for (const name of ['fiat.payment', 'payouts.insert', 'payouts.sending', 'payouts.accepted'])
    t.true(statements.includes(name), name)
  t.deepEqual(
    statements.filter((name) => ofGuards.test(name)),
    [],
  )
  const transfers = await db('ledger_transfers').where({ ref: intentId }).pluck('kind')
  t.deepEqual(transfers, ['credit'])
})
