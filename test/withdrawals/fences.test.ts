import test from 'ava'
import {
  recordAccepted,
  recordRefused,
  recordSending,
  recordUnsent,
} from '../../src/withdrawals/send/record-outcome.js'
import { type DuePayout, takePayoutsToSend } from '../../src/withdrawals/work-queue.js'
import { balanceOf, creatorWith, letTimePass, rowOf, withdrawal } from '../helpers/make/payouts.js'
import type { Person } from '../helpers/make/people.js'
import { useWorld } from '../helpers/servers/world.js'
import { brokenNow } from '../ledger/support.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
test.afterEach.always('the books hold', async (t) => {
  t.deepEqual(await brokenNow(world().db), [])
})

/** A withdrawal that a worker took and then slept over, so that another one has it now. */
async function claimedTwice(): Promise<{
  ada: Person
  reference: string
  asleep: DuePayout
  awake: DuePayout
}> {
  const ada = await creatorWith(world(), 20)
  const { reference } = await withdrawal(world(), ada, { amountUSDC: 20 })
  const claim = async (): Promise<DuePayout> => {
    const claimed = (await takePayoutsToSend(world().services)).find((one) => one.reference === reference)
    if (claimed === undefined) throw new Error('it was not due')
    return claimed
  }
  const asleep = await claim()
  await letTimePass(world())
  return { ada, reference, asleep, awake: await claim() }
}

test.serial('a worker that slept cannot send what another one has', async (t) => {
  const { asleep, awake } = await claimedTwice()
  const { services } = world()
  t.is((await recordSending(services, awake))?.sends, 1)
  t.is(await recordSending(services, asleep), undefined)
})

test.serial(
  'a refusal that a sleeper heard before it sent ends nothing that another one is sending',
  async (t) => {
    const { ada, reference, asleep, awake } = await claimedTwice()
    const { services } = world()
    await recordSending(services, awake)
    await recordRefused(services, asleep, 'No such account')
    await recordUnsent(services, asleep, 'away')
    t.like(await rowOf(world(), reference), { status: 'pending', send_state: 'sending', sends: 1 })
    await recordAccepted(services, awake, `TRF_${reference}`)
    t.is((await rowOf(world(), reference)).status, 'submitted')
    t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
  },
)

test.serial('a refusal counts for its own request alone, and only while it is the only one', async (t) => {
  const { ada, reference, awake } = await claimedTwice()
  const { services, db } = world()
  const sending = await recordSending(services, awake)
  if (sending === undefined) return t.fail('it may be sent')
  await recordRefused(services, awake, 'No', { sends: 1, at: new Date(sending.at.getTime() - 1) })
  t.is((await rowOf(world(), reference)).status, 'pending')
  await db('withdrawals').where({ reference }).update({ sends: 2 })
  await recordRefused(services, awake, 'No', sending)
  await recordUnsent(services, awake, 'away', sending)
  t.like(await rowOf(world(), reference), { status: 'pending', sends: 2 })
  await db('withdrawals').where({ reference }).update({ sends: 1 })
  await recordRefused(services, awake, 'No', sending)
  t.is((await rowOf(world(), reference)).status, 'failed')
  t.deepEqual(await balanceOf(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
})

test.serial('accepted after the creator had the money back calls a person', async (t) => {
  const { reference, awake } = await claimedTwice()
  const { services, db } = world()
  const sending = await recordSending(services, awake)
  await recordRefused(services, awake, 'No', sending)
  await recordAccepted(services, awake, `TRF_${reference}`)
  t.is((await rowOf(world(), reference)).status, 'failed')
  const reviews = await db('review_items').where({ withdrawal_id: awake.id })
  t.deepEqual(
    reviews.map(({ kind }) => kind),
    ['paid_after_failed'],
  )
})
