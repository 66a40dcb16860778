import test from 'ava'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { disputeTip, paidTip, payableCreator, returnsBatch } from '../../helpers/make/fiat/disputes.js'
import { runMortal } from '../../helpers/servers/mortal-worker.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

const killSteps = [
  'after returns.take 1',
  'after disputes.insert 1',
  'after ledger.post 1',
  'before receivables.collect 1',
  'after disputes.finish 1',
  'after emails.queue 1',
  'before returns.finish 1',
]

test('a worker killed at any step of its look books every lost dispute once, and mails about it once', async (t) => {
  const { env, db, fiat } = world()
  fiat.fiatpay.faults.setMode({ webhooks: 'off' })
  const ada = await payableCreator(world())
  const work = (diesAt?: string) =>
    runMortal(
      t,
      {
        env,
        kind: 'settlement',
        taking: 'returns.take',
        batchesOf: (services) => [returnsBatch({ services })],
      },
      diesAt,
    )
  const makeDue = () => db('dispute_polls').update({ due_at: new Date(0) })
  for (const step of killSteps) {
    const { intentId } = await paidTip(world(), ada)
    const dispute = disputeTip(world(), intentId)
    fiat.fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
    await makeDue()
    await work(step)
    await makeDue()
    await work()
    const row = await db('disputes')
      .where({ id: String(dispute.id) })
      .first()
    t.like(row, { state: 'lost', settled: true }, `it is booked after a kill ${step}`)
  }
  const accounts = await db('ledger_accounts').where({ user_id: ada.user.id })
  t.deepEqual(
    accounts.map(({ balance }) => balance),
    accounts.map(() => 0n),
  )
  t.is((await db('payment_returns')).length, killSteps.length)
  t.is((await db('emails').where({ kind: 'dispute-lost' })).length, killSteps.length)
  t.true((await checkBooks(db)).holds)
})
