import test from 'ava'
import { checkBooks } from '../../src/ledger/invariants.js'
import { BatchSteps, numbered, type Step } from '../helpers/batch-steps.js'
import { follow } from '../helpers/http/stream-reader.js'
import { stampsOf } from '../helpers/make/confirmed-tips.js'
import { registerCreator } from '../helpers/make/creators.js'
import { availableUsdc, fiatIntent, fiatStatus, pay } from '../helpers/make/fiat-tips.js'
import { startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { watchPostgres } from '../helpers/steps.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true })

/** Killed after these too: they have happened and nobody was told. After a read, it is as before the next step. */
const writes = new Set(['fiat.claim', 'commit'])

test('a settlement worker killed at any step between the provider’s answer and the commit credits every payment once', async (t) => {
  t.timeout(240_000)
  const { env, url, db } = world()
  world().fiat.fiatpay.behaviour.setFault({ webhooks: { copies: 0 } })
  const creator = await registerCreator(world())
  const reader = await follow(t, url, creator.wallet)
  const steps = new BatchSteps('fiat.claim')
  const settings = { ...env, DATABASE_URL: await watchPostgres(t, env['DATABASE_URL'] ?? '', steps.atStep) }
  const start = () => startWorkerProcess(t, 'settlement', settings)
  const intents: string[] = []

  /** One paid intent, which the worker takes up in one batch. */
  async function round(prepare: () => void): Promise<string> {
    steps.hold()
    await until('a batch waits', () => steps.waiting)
    const body = { creatorId: creator.user.id, amount: 10, payerEmail: 'payer@example.com' }
    const { intentId } = await fiatIntent(world(), body)
    pay(world(), intentId)
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
  const isCompleted = async (id: string) => (await fiatStatus(world(), id)) === 'completed'

  let worker = await start()
  // The first payment opens the creator's account; the second one, undisturbed as well, says which steps there are.
  for (let n = 0; n < 2; n++) {
    const intentId = await round(() => undefined)
    await until('it is completed', () => isCompleted(intentId))
  }
  const isWhole = (batch: Step[]) =>
    batch.some(({ label }) => label === 'fiat.complete') && batch.at(-1)?.label === 'commit'
  await until('both batches have ended', () => steps.batches.filter(isWhole).length === 2)
  const walk = steps.batches.findLast(isWhole) ?? []
  t.log(walk.flatMap(({ label, phase }) => (phase === 'before' ? [label] : [])).join(', '))
  for (const label of ['tips.fiat-confirm', 'fiat.payment', 'ledger.post', 'commit'])
    t.true(
      walk.some((step) => step.label === label),
      label,
    )
  for (const step of numbered(walk)) {
    if (step.phase === 'after' && !writes.has(step.label)) continue
    const victim = worker
    const kill = async (): Promise<void> => {
      victim.signal('SIGKILL')
      await victim.ended
    }
    const intentId = await round(() => steps.killAt(step, kill))
    t.is(await victim.ended, 'SIGKILL')
    t.deepEqual(numbered(steps.batches.at(-1) ?? []).at(-1), step)
    // As the lease's minute passing would.
    await makeDue(intentId)
    worker = await start()
    await until(`it is completed after a kill ${step.phase} ${step.label}`, () => isCompleted(intentId))
  }
  t.is(await availableUsdc(world(), creator), 9.5 * intents.length)
  t.is((await db('ledger_transfers').whereLike('idem', 'fiatpay:%')).length, intents.length)
  t.is((await db('emails').where({ kind: 'receipt' })).length, intents.length)
  await until('the reader has every tip', () => reader.tips.length >= intents.length)
  t.deepEqual(
    reader.tips.map(({ id }) => id),
    await stampsOf(db, creator.wallet),
  )
  t.true((await checkBooks(db)).holds)
})
