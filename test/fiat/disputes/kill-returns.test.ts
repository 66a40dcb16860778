import test from 'ava'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { disputeTip, paidTip, payableCreator } from '../../helpers/make/fiat/disputes.js'
import { watchPostgresSteps } from '../../helpers/proxies/watch-steps.js'
import { BatchSteps, type NthStep } from '../../helpers/servers/batch-steps.js'
import { startWorkerProcess } from '../../helpers/servers/service-process.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

const killSteps: readonly NthStep[] = [
  { label: 'returns.take', phase: 'after', nth: 1 },
  { label: 'disputes.insert', phase: 'after', nth: 1 },
  { label: 'ledger.post', phase: 'after', nth: 1 },
  { label: 'receivables.collect', phase: 'before', nth: 1 },
  { label: 'disputes.finish', phase: 'after', nth: 1 },
  { label: 'emails.queue', phase: 'after', nth: 1 },
  { label: 'returns.finish', phase: 'before', nth: 1 },
]

test('a worker killed at any step of its look books every lost dispute once, and mails about it once', async (t) => {
  t.timeout(240_000)
  const { env, db, fiat } = world()
  fiat.fiatpay.faults.setMode({ webhooks: 'off' })
  const ada = await payableCreator(world())
  const steps = new BatchSteps('returns.take')
  const settings = {
    ...env,
    DATABASE_URL: await watchPostgresSteps(t, env['DATABASE_URL'] ?? '', steps.atStep),
  }
  const makeDue = () => db('dispute_polls').update({ due_at: new Date(0) })
  for (const step of killSteps) {
    const { intentId } = await paidTip(world(), ada)
    steps.hold()
    const worker = await startWorkerProcess(t, 'settlement', settings)
    await until('a look waits', () => steps.waiting)
    const dispute = disputeTip(world(), intentId)
    fiat.fiatpay.loseDispute(dispute, 'auto-accepted', dispute.amountKobo)
    await makeDue()
    steps.killAt(step, async () => {
      worker.signal('SIGKILL')
      await worker.ended
    })
    steps.release()
    t.is(await worker.ended, 'SIGKILL', step.label)

    const next = await startWorkerProcess(t, 'settlement', settings)
    await makeDue()
    await until(`it is booked after a kill at ${step.label}`, async () => {
      const row = await db('disputes')
        .where({ id: String(dispute.id) })
        .first()
      return row?.state === 'lost' && row.settled
    })
    next.signal('SIGTERM')
    await next.ended
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
