import test from 'ava'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { landTips, unconfirmed } from '../../helpers/make/landed.js'
import { unknownSignature } from '../../helpers/make/supporter.js'
import { recordTip, someClaim, storedTip, verifyUntil } from '../../helpers/make/tips.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, taps: true })
const batch = () => createVerifierBatch(world().services)()

test.afterEach.always(async () => {
  Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  world().sandbox.faults.clear()
  world().sandbox.chain.releaseControls()
  await world().db('tips').update({ due_at: null })
})

async function confirmAll(signatures: readonly string[], milliseconds?: number): Promise<void> {
  const all = async () => (await unconfirmed(world(), signatures)).length === 0
  await verifyUntil(batch, `${signatures.length} tips are confirmed`, all, milliseconds)
}

test.serial(
  'a node that takes three inputs at a time is asked in threes, and everything is confirmed',
  async (t) => {
    const signatures = await landTips(world(), 40)
    world().sandbox.faults.set({ maxInputs: 3 })
    await t.notThrowsAsync(confirmAll(signatures))
  },
)

test.serial('a node that takes one input at a time is asked for one', async (t) => {
  const signatures = await landTips(world(), 9)
  world().sandbox.faults.set({ maxInputs: 1 })
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('a node that is behind for long questions is asked shorter ones', async (t) => {
  const signatures = await landTips(world(), 40)
  world().taps.outside.alter = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.length > 5
      ? { id: reply.id, error: { code: -32005, message: 'Node is behind by 42 slots' } }
      : reply
  await t.notThrowsAsync(confirmAll(signatures))
})

for (const answer of ['429', 'html'] as const)
  test.serial(`a node that answers ${answer} for a while delays tips by about as long`, async (t) => {
    const signatures = await landTips(world(), 20)
    world().sandbox.faults.set({ answer })
    for (let look = 0; look < 3; look++) await batch().catch(() => undefined)
    t.is((await unconfirmed(world(), signatures)).length, 20)
    world().sandbox.faults.clear()
    await t.notThrowsAsync(confirmAll(signatures, 3000))
  })

test.serial('a node that answers 429 is not asked hundreds of times at once', async (t) => {
  await landTips(world(), 100)
  const { sandbox } = world()
  sandbox.faults.set({ answer: '429' })
  sandbox.calls.reset()
  await batch().catch(() => undefined)
  t.true(sandbox.calls.httpRequests <= 20, `${sandbox.calls.httpRequests} requests`)
})

test.serial('a node that hangs up delays tips by about as long', async (t) => {
  const signatures = await landTips(world(), 3)
  world().taps.outside.intervene = () => 'close'
  await t.throwsAsync(batch)
  world().taps.outside.intervene = undefined
  await t.notThrowsAsync(confirmAll(signatures, 3000))
})

test.serial('no answer about an old signature is no verdict about it', async (t) => {
  const old = unknownSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await world()
    .db('tips')
    .where({ id: old })
    .update({ recorded_at: long, due_at: new Date(0) })
  const fresh = await landTips(world(), 10)
  // One question goes wrong, the others are answered.
  world().taps.outside.alter = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.includes(old)
      ? { id: reply.id, error: { code: first.length > 1 ? -32602 : -32603, message: 'Internal error' } }
      : reply
  await confirmAll(fresh)
  t.is((await storedTip(world(), old)).outcome, null)
  t.truthy((await storedTip(world(), old)).due_at)
})

test.serial('an answer that is too short says nothing about what it leaves out', async (t) => {
  const old = unknownSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await world()
    .db('tips')
    .where({ id: old })
    .update({ recorded_at: long, due_at: new Date(0) })
  world().taps.outside.alter = (method, _params, reply) =>
    method === 'getSignatureStatuses' ? { id: reply.id, result: { context: { slot: 1 }, value: [] } } : reply
  await batch().catch(() => undefined)
  t.is((await storedTip(world(), old)).outcome, null)
})
