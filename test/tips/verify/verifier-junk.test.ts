import { randomBytes } from 'node:crypto'
import test from 'ava'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { tipQueue } from '../../../src/tips/verify/tip-queue.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { unusedWallet } from '../../helpers/make/supporter.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
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
