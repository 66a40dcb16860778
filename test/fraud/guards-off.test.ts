import test from 'ava'
import { createDb } from '../../src/platform/database/database.js'
import { migrationRules, migrationSource } from '../../src/platform/database/migrations/migrate.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settlementBatch } from '../helpers/make/fiat/fiat-tips.js'
import { createWithdrawal, sendDuePayouts } from '../helpers/make/withdrawals.js'
import { readSchema } from '../helpers/servers/schema.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, proxies: true, env: { WITHDRAW_WAIT_MS: '0' } })

/** The statements that only guards run. */
const ofGuards =
  /^(card-reserves\.|switches\.|identity\.(lock-payee|young|account_hash|name_hash)|payouts\.(wait|.*-room))/

test.serial('without settings a card tip and its withdrawal run no statement of the guards', async (t) => {
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

test.serial('the migration is taken back and made again', async (t) => {
  const db = createDb(await world().newDatabaseUrl(), 1)
  t.teardown(() => db.destroy())
  // Columns of later migrations stand before those that are made again.
  const inAnyOrder = (schema: string) =>
    schema
      .replace(/^(column \w+)\.\d+ /gm, '$1 ')
      .split('\n')
      .toSorted()
  const before = inAnyOrder(await readSchema(db))
  // The second adds to a table of the first.
  const names = ['0019-card-money', '0026-monitoring']
  for (const name of names.toReversed()) await db.migrate.down({ ...migrationRules, migrationSource, name })
  for (const name of names) await db.migrate.up({ ...migrationRules, migrationSource, name })
  t.deepEqual(inAnyOrder(await readSchema(db)), before)
})
