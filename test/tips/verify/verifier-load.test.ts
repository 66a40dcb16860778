import { randomBytes } from 'node:crypto'
import test from 'ava'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { tipQueue } from '../../../src/tips/verify/tip-queue.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { unusedWallet } from '../../helpers/make/supporter.js'
import { as, composeAs } from '../../helpers/servers/roles.js'
import { runBatch, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { chain: true })

test.serial('300 due tips cost two calls for statuses, one per transaction, and few requests', async (t) => {
  const signatures = await createRecordedTips(world(), 300, [unusedWallet(), unusedWallet()])
  const { calls } = world().sandbox
  calls.reset()
  await runBatch(createVerifierBatch(as('verifier', world().services)))
  t.deepEqual(calls.all(), { getSignatureStatuses: 2, getTransaction: 300 })
  // 100 transactions per request.
  t.is(calls.httpRequests, 5)
  t.deepEqual(await listUnconfirmed(world(), signatures), [])
})

test.serial('500 tips in four batches are confirmed once each, in an order readers can follow', async (t) => {
  const recipients = Array.from({ length: 5 }, unusedWallet)
  const signatures = await createRecordedTips(world(), 500, recipients)
  const other = composeAs('verifier', world().env)
  t.teardown(() => other.close())
  const before = (await world().services.metrics.tipsConfirmed.get()).values[0]?.value ?? 0

  // A reader that keeps polling for tips newer than its newest one.
  const seen = new Map(recipients.map((wallet) => [wallet, [] as string[]]))
  const cursors = new Map<string, Date>()
  let done = false
  async function follow(): Promise<void> {
    for (const wallet of recipients) {
      const rows = await world()
        .db('tips as t')
        .join('parties as p', 'p.id', 't.recipient_party')
        .where({ 'p.wallet': wallet, 't.status': 'confirmed' })
        .where('t.confirmed_at', '>', cursors.get(wallet) ?? new Date(0))
        .orderBy('t.confirmed_at')
        .select('t.id', 't.confirmed_at')
      seen.get(wallet)?.push(...rows.map(({ id }) => id))
      const newest = rows.at(-1)
      if (newest !== undefined) cursors.set(wallet, newest.confirmed_at)
    }
  }
  const reader = (async () => {
    while (!done) await follow()
    await follow()
  })()
  // Small batches, so that the four often compete.
  await world().db('tips').whereIn('id', signatures).update({ due_at: null })
  const feeder = (async () => {
    for (let start = 0; start < 500; start += 25) {
      const some = signatures.slice(start, start + 25)
      await world()
        .db('tips')
        .whereIn('id', some)
        .update({ due_at: new Date(0) })
    }
  })()
  const batches = [world().services, other, world().services, other].map((services) =>
    createVerifierBatch(as('verifier', services)),
  )
  await until('all are confirmed', async () => {
    await Promise.all(batches.map((batch) => batch()))
    return (await listUnconfirmed(world(), signatures)).length === 0
  })
  await feeder
  done = true
  await reader

  const rows = await world().db('tips').whereIn('id', signatures).orderBy('confirmed_at')
  const stamps = rows.map(({ recipient_party: party, confirmed_at: at }) => `${party} ${at.getTime()}`)
  t.is(new Set(stamps).size, 500, 'no two confirmations of one recipient share a stamp')
  const counted = await Promise.all(
    [world().services, other].map(
      async ({ metrics }) => (await metrics.tipsConfirmed.get()).values[0]?.value ?? 0,
    ),
  )
  t.is(counted.reduce((sum, count) => sum + count, 0) - before, 500, 'each was confirmed exactly once')
  const followed = [...seen.values()].flat()
  t.is(followed.length, 500, 'a reader that polls for newer tips misses none and gets none twice')
  t.is(new Set(followed).size, 500)
})

const batch = () => createVerifierBatch(as('verifier', world().services))()
const junk = 10_000
/** How many of them are followed as they get older. */
const followed = 500

async function recordJunk(): Promise<void> {
  const [creator, sender] = [unusedWallet(), unusedWallet()]
  for (let start = 0; start < junk; start += 1000)
    await world()
      .db('tips')
      .insert(
        Array.from({ length: 1000 }, () => ({
          id: encodeBase58(randomBytes(64)),
          kind: 'chain',
          creator_wallet: creator,
          sender,
          amount: 1,
          token_symbol: 'SOL',
          claim_hash: randomBytes(32),
        })),
      )
}

test('10,000 unknown signatures delay genuine tips by one pass, are checked at growing intervals, and then no longer', async (t) => {
  t.timeout(180_000)
  await recordJunk()
  const genuine = await createRecordedTips(world(), 50)
  const { calls } = world().sandbox
  calls.reset()
  const begun = performance.now()
  let taken = 0
  // One pass takes every due row once. The genuine tips were recorded last.
  while ((await listUnconfirmed(world(), genuine)).length > 0) taken += (await batch()).taken
  const tookMs = Math.round(performance.now() - begun)
  t.log(`${taken} taken, ${tookMs} ms, ${calls.of('getSignatureStatuses')} status calls`)
  // Tips that are due again come after them. A few more checks may end the batch.
  t.true(taken <= junk + 50 + 3 * tipQueue.batchSize, `${taken} taken`)
  t.is(calls.of('getTransaction'), 50)

  await world().db.raw(
    `update tips set due_at = null where status = 'pending' and id not in (select id from tips where status = 'pending' limit ?)`,
    [followed],
  )
  const pending = () => world().db('tips').where({ status: 'pending' }).whereNotNull('due_at')
  const waits: number[] = []
  // As the tips get older, all of them are checked once at each age.
  for (const ageMs of [1000, 60_000, 3_600_000, 20 * 3_600_000]) {
    await pending().update({ due_at: new Date(0), recorded_at: new Date(Date.now() - ageMs) })
    while ((await pending().where('due_at', '<', new Date())).length > 0 && (await batch()).taken > 0);
    const [{ ms }] = (
      await world().db.raw(
        `select avg(extract(epoch from due_at - clock_timestamp()) * 1000) + 2000 as ms from tips where status = 'pending' and due_at is not null`,
      )
    ).rows
    waits.push(Number(ms))
  }
  t.log(waits.map((ms) => `${Math.round(ms / 1000)} s`).join(', '))
  t.true(waits.every((wait, index) => index === 0 || wait > (waits[index - 1] ?? 0)))
  await pending().update({ due_at: new Date(0), recorded_at: new Date(Date.now() - 24.1 * 3_600_000) })
  while ((await batch()).taken > 0);
  t.is((await pending()).length, 0)
  const junkRows = world().db('tips').where({ status: 'pending' })
  t.is((await junkRows.whereNot({ outcome: 'not_found' })).length, 0)
})
