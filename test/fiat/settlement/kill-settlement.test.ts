import test from 'ava'
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
import { type AtStep, watchPostgresSteps } from '../../helpers/proxies/watch-steps.js'
import { BatchSteps, numberSteps, type Step } from '../../helpers/servers/batch-steps.js'
import { startWorkerProcess } from '../../helpers/servers/service-process.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

/** The worker is also killed right after these writes. A kill after a read equals one before the next step. */
const writes = new Set(['fiat.take', 'commit'])

test('a settlement worker killed at any step between the provider’s answer and the commit credits every payment once', async (t) => {
  t.timeout(240_000)
  const { env, url, db } = world()
  world().fiat.fiatpay.faults.setFault({ webhooks: { copies: 0 } })
  const creator = await registerCreator(world())
  const reader = await follow(t, url, creator.wallet)
  const steps = new BatchSteps('fiat.take')
  // The same process looks for disputes and reads the switches meanwhile.
  const settlementSteps: AtStep = async (label, phase) =>
    /^(returns[.]|epoch[.]|switches[.]read$)/.test(label) || steps.atStep(label, phase)
  const settings = {
    ...env,
    DATABASE_URL: await watchPostgresSteps(t, env['DATABASE_URL'] ?? '', settlementSteps),
  }
  const start = () => startWorkerProcess(t, 'settlement', settings)
  const intents: string[] = []

  /** Creates one paid intent, which the worker settles in one batch. */
  async function round(prepare: () => void): Promise<string> {
    steps.hold()
    await until('a batch waits', () => steps.waiting)
    const body = { creatorId: creator.user.id, amount: 10, payerEmail: 'payer@example.com' }
    const { intentId } = await createFiatIntent(world(), body)
    payFiatIntent(world(), intentId)
    await makeDue(intentId)
    intents.push(intentId)
    prepare()
    steps.release()
    return intentId
  }
  const makeDue = (id: string) =>
    db('fiat_intents')
      .where({ id })
      .update({ due_at: new Date(0) })
  const isCompleted = async (id: string) => (await readFiatStatus(world(), id)) === 'completed'

  let worker = await start()
  // The first payment opens the creator's ledger accounts. The second one shows the steps of a batch.
  for (let n = 0; n < 2; n++) {
    const intentId = await round(() => undefined)
    await until('it is completed', () => isCompleted(intentId))
  }
  const isWhole = (batch: Step[]) =>
    batch.some(({ label }) => label === 'fiat.complete') &&
    batch.some(({ label, phase }) => label === 'commit' && phase === 'after')
  await until('both batches have ended', () => steps.batches.filter(isWhole).length === 2)
  const wholeBatch = steps.batches.findLast(isWhole) ?? []
  t.log(wholeBatch.flatMap(({ label, phase }) => (phase === 'before' ? [label] : [])).join(', '))
  for (const label of ['tips.fiat-confirm', 'fiat.payment', 'ledger.post', 'commit'])
    t.true(
      wholeBatch.some((step) => step.label === label),
      label,
    )
  for (const step of numberSteps(wholeBatch)) {
    if (step.phase === 'after' && !writes.has(step.label)) continue
    const victim = worker
    const kill = async (): Promise<void> => {
      victim.signal('SIGKILL')
      await victim.ended
    }
    const intentId = await round(() => steps.killAt(step, kill))
    t.is(await victim.ended, 'SIGKILL')
    t.deepEqual(numberSteps(steps.batches.at(-1) ?? []).at(-1), step)
    // Instead of waiting for the lease to end.
    await makeDue(intentId)
    worker = await start()
    await until(`it is completed after a kill ${step.phase} ${step.label}`, () => isCompleted(intentId))
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
