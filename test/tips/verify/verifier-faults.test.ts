import test from 'ava'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { unusedSignature } from '../../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil, someClaim } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const batch = () => createVerifierBatch(as('verifier', world().services))()

test.afterEach.always(async () => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  world().sandbox.faults.clear()
  world().sandbox.chain.releaseControls()
  await world().db('tips').update({ due_at: null })
})

async function confirmAll(signatures: readonly string[]): Promise<void> {
  const all = async () => (await listUnconfirmed(world(), signatures)).length === 0
  await runBatchUntil(batch, `${signatures.length} tips are confirmed`, all)
}

test.serial(
  'a node that accepts batches of three gets batches of three, and everything is confirmed',
  async (t) => {
    const signatures = await createRecordedTips(world(), 40)
    world().sandbox.faults.set({ maxInputs: 3 })
    await t.notThrowsAsync(confirmAll(signatures))
  },
)

test.serial('a node that accepts one call at a time gets one', async (t) => {
  const signatures = await createRecordedTips(world(), 9)
  world().sandbox.faults.set({ maxInputs: 1 })
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('a node that lags for large batches gets smaller ones', async (t) => {
  const signatures = await createRecordedTips(world(), 40)
  world().proxies.outside.alterReply = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.length > 5
      ? { id: reply.id, error: { code: -32005, message: 'Node is behind by 42 slots' } }
      : reply
  await t.notThrowsAsync(confirmAll(signatures))
})

for (const answer of ['429', 'html'] as const)
  test.serial(`a node that answers ${answer} for a while delays tips only for about that long`, async (t) => {
    const signatures = await createRecordedTips(world(), 20)
    world().sandbox.faults.set({ answer })
    for (let check = 0; check < 3; check++) await batch().catch(() => undefined)
    t.is((await listUnconfirmed(world(), signatures)).length, 20)
    world().sandbox.faults.clear()
    await t.notThrowsAsync(confirmAll(signatures))
  })

test.serial('a node that answers 429 does not get hundreds of concurrent requests', async (t) => {
  await createRecordedTips(world(), 100)
  const { sandbox } = world()
  sandbox.faults.set({ answer: '429' })
  sandbox.calls.reset()
  await batch().catch(() => undefined)
  t.true(sandbox.calls.httpRequests <= 20, `${sandbox.calls.httpRequests} requests`)
})

test.serial('a node that closes connections delays tips only for about that long', async (t) => {
  const signatures = await createRecordedTips(world(), 3)
  world().proxies.outside.intervene = () => 'close'
  await t.throwsAsync(batch)
  world().proxies.outside.intervene = undefined
  await t.notThrowsAsync(confirmAll(signatures))
})

test.serial('no answer about an old signature decides nothing', async (t) => {
  const old = unusedSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await world()
    .db('tips')
    .where({ id: old })
    .update({ recorded_at: long, due_at: new Date(0) })
  const fresh = await createRecordedTips(world(), 10)
  // One call fails, the others are answered.
  world().proxies.outside.alterReply = (method, [first], reply) =>
    method === 'getSignatureStatuses' && Array.isArray(first) && first.includes(old)
      ? { id: reply.id, error: { code: first.length > 1 ? -32602 : -32603, message: 'Internal error' } }
      : reply
  await confirmAll(fresh)
  t.is((await readTipRow(world(), old)).outcome, null)
  t.truthy((await readTipRow(world(), old)).due_at)
})

test.serial('an answer that is too short decides nothing about the missing signatures', async (t) => {
  const old = unusedSignature()
  await recordTip(world(), someClaim({ txSignature: old }))
  const long = new Date(Date.now() - 25 * 3_600_000)
  await world()
    .db('tips')
    .where({ id: old })
    .update({ recorded_at: long, due_at: new Date(0) })
  world().proxies.outside.alterReply = (method, _params, reply) =>
    method === 'getSignatureStatuses' ? { id: reply.id, result: { context: { slot: 1 }, value: [] } } : reply
  await batch().catch(() => undefined)
  t.is((await readTipRow(world(), old)).outcome, null)
})
