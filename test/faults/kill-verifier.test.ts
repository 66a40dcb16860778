import { randomBytes } from 'node:crypto'
import test from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { follow } from '../helpers/http/stream-reader.js'
import { confirmedStamps } from '../helpers/make/confirmed-tips.js'
import { payOnChain, postClaim, type TipClaim } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { readTipRow } from '../helpers/make/tips.js'
import { runMortal } from '../helpers/servers/mortal-worker.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true, slotMs: 0 })

/** The verifier is also killed right after these writes. A kill after a read equals one before the next step. */
const writes = ['tips.take', 'parties.insert', 'commit', 'tips.fill-message', 'tips.finalize', 'tips.finish']
const [confirmedSlots, finalSlots] = [2, 40]

/**
 * Records work for every step of a batch, alone due: a tip with a second, different claim (which is disproved), a tip to a new wallet
 * (which becomes a party), a signature that is not found (which is rescheduled), and the former tip, which is confirmed already, with a
 * message (which is backfilled) and final by now. Returns the tip to `wallet`.
 */
async function recordRound(wallet: string, former: TipClaim | undefined): Promise<TipClaim> {
  const { db, sandbox, url } = world()
  await db('tips').update({ due_at: null })
  sandbox.chain.advance(finalSlots)
  const tip = payOnChain(sandbox, wallet)
  const first = payOnChain(sandbox, unusedWallet())
  sandbox.chain.advance(confirmedSlots)
  const stranger = { ...tip, senderWallet: unusedWallet() }
  const unknown = { ...tip, txSignature: encodeBase58(randomBytes(64)) }
  const late = former === undefined ? [] : [{ ...former, message: 'thank you' }]
  for (const claim of [tip, first, stranger, unknown, ...late]) {
    const { status, body } = await postClaim(url, claim)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  await endLeases()
  return tip
}

/** Instead of waiting for the leases to end. */
async function endLeases(): Promise<void> {
  await world().db.raw(`update tips set due_at = clock_timestamp() where due_at is not null`)
}

test('a verifier that is killed at any step of a batch confirms every tip once, and stream readers get it once', async (t) => {
  const { db, env, url } = world()
  const wallet = unusedWallet()
  const reader = await follow(t, url, wallet)
  const batchesOf = (services: Parameters<typeof createVerifierBatch>[0]) => [createVerifierBatch(services)]
  const work = (diesAt?: string) =>
    runMortal(t, { env, kind: 'verifier', taking: 'tips.take', batchesOf }, diesAt)
  const statusOf = async ({ txSignature }: TipClaim) => (await readTipRow(world(), txSignature)).status

  const tips: TipClaim[] = []
  let steps: readonly string[] = []
  // The first has no former tip. The second one shows which steps there are.
  for (let n = 0; n < 2; n++) {
    const tip = await recordRound(wallet, tips.at(-1))
    tips.push(tip)
    steps = await work()
    t.is(await statusOf(tip), 'confirmed')
  }
  t.log(steps.filter((step) => step.startsWith('before')).join(', '))
  for (const label of ['parties.insert', 'tips.disprove', 'commit', 'tips.fill-message', 'getTransaction'])
    t.true(steps.includes(`before ${label} 1`), label)
  for (const label of writes) t.true(steps.includes(`after ${label} 1`), label)

  for (const step of steps) {
    if (step.startsWith('after') && !writes.some((label) => step.startsWith(`after ${label} `))) continue
    const tip = await recordRound(wallet, tips.at(-1))
    tips.push(tip)
    await work(step)
    await endLeases()
    await work()
    t.is(await statusOf(tip), 'confirmed', `after a kill ${step}`)
  }
  const stamps = await confirmedStamps(db, wallet)
  t.is(stamps.length, tips.length)
  t.is(new Set(stamps).size, tips.length)
  await until('the reader has every tip', () => reader.tips.length >= tips.length)
  t.deepEqual(
    reader.tips.map(({ id }) => id),
    stamps,
  )
  const unfilled = await db('tips')
    .whereIn(
      'id',
      tips.slice(0, -1).map(({ txSignature }) => txSignature),
    )
    .whereNull('message')
  t.is(unfilled.length, 0, 'every late message was filled in')
})
