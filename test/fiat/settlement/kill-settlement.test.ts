import test from 'ava'
import { createSettlementBatch } from '../../../src/fiat/settle-due-intents.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { follow } from '../../helpers/http/stream-reader.js'
import { confirmedStamps } from '../../helpers/make/confirmed-tips.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
} from '../../helpers/make/fiat/fiat-tips.js'
import { runMortal } from '../../helpers/servers/mortal-worker.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

/** The worker is also killed right after these writes. A kill after a read equals one before the next step. */
const writes = ['fiat.take', 'commit']

test('a settlement worker killed at any step between the provider’s answer and the commit credits every payment once', async (t) => {
  const { env, url, db } = world()
  world().fiat.fiatpay.faults.setFault({ webhooks: { copies: 0 } })
  const creator = await registerCreator(world())
  const reader = await follow(t, url, creator.wallet)
  const intents: string[] = []
  const work = (diesAt?: string) =>
    runMortal(
      t,
      {
        env,
        kind: 'settlement',
        taking: 'fiat.take',
        batchesOf: (services) => [createSettlementBatch(services)],
      },
      diesAt,
    )

  /** Creates one paid intent, alone due. */
  async function newIntent(): Promise<string> {
    const body = { creatorId: creator.user.id, amount: 10, payerEmail: 'payer@example.com' }
    const { intentId } = await createFiatIntent(world(), body)
    payFiatIntent(world(), intentId)
    intents.push(intentId)
    await db('fiat_intents').update({ due_at: null })
    await makeDue(intentId)
    return intentId
  }
  const makeDue = (id: string) =>
    db('fiat_intents')
      .where({ id })
      .update({ due_at: new Date(0) })
  const isCompleted = async (id: string) => (await readFiatStatus(world(), id)) === 'completed'

  // The first payment opens the creator's ledger accounts. The second one shows the steps of a batch.
  await newIntent()
  await work()
  await newIntent()
  const steps = await work()
  t.log(steps.filter((step) => step.startsWith('before')).join(', '))
  for (const label of ['tips.fiat-confirm', 'fiat.payment', 'ledger.post', 'commit'])
    t.true(steps.includes(`before ${label} 1`), label)
  for (const id of intents) t.true(await isCompleted(id))
  for (const step of steps) {
    if (step.startsWith('after') && !writes.some((label) => step.startsWith(`after ${label} `))) continue
    const id = await newIntent()
    const done = await work(step)
    t.is(done.at(-1), step)
    // Instead of waiting for the lease to end.
    await makeDue(id)
    await work()
    t.true(await isCompleted(id), `it is completed after a kill ${step}`)
  }
  t.is(await readAvailableUsdc(world(), creator), 9.5 * intents.length)
  t.is((await db('ledger_transfers').whereLike('idem', 'fiatpay:%')).length, intents.length)
  t.is((await db('emails').where({ kind: 'receipt' })).length, intents.length)
  await until('the reader has every tip', () => reader.tips.length >= intents.length)
  t.deepEqual(
    reader.tips.map(({ id }) => id),
    await confirmedStamps(db, creator.wallet),
  )
  t.true((await checkBooks(db)).holds)
})
