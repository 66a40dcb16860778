import test from 'ava'
import { recordAccepted, recordRefused, recordSending, recordUnsent } from '../../src/outgoing/send.js'
import { takeDueRows } from '../../src/platform/database/due-rows.js'
import { type DuePayout, payoutQueue } from '../../src/withdrawals/work-queue.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import type { Person } from '../helpers/make/creators.js'
import {
  createWithdrawal,
  creatorWithBalance,
  makeWithdrawalsDue,
  readBalance,
  readWithdrawalRow,
  sendingKind,
} from '../helpers/make/withdrawals.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true })
test.afterEach.always('the ledger is consistent', async (t) => {
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

/** A withdrawal that one worker took, and that a second worker took after the lease of the first had ended. */
async function createTakenTwice(): Promise<{
  ada: Person
  reference: string
  first: DuePayout
  second: DuePayout
}> {
  const ada = await creatorWithBalance(world(), 20)
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 20 })
  const { db, config } = world().services
  const take = async (): Promise<DuePayout> => {
    const taken = (await takeDueRows<DuePayout>(db, payoutQueue(config.payouts))).find(
      (one) => one.reference === reference,
    )
    if (taken === undefined) throw new Error('it was not due')
    return taken
  }
  const first = await take()
  await makeWithdrawalsDue(world())
  return { ada, reference, first, second: await take() }
}

test.serial('a worker whose lease has ended cannot send what another worker has taken', async (t) => {
  const { first, second } = await createTakenTwice()
  const { services } = world()
  t.is((await recordSending(as('payouts', services), sendingKind(world()), second))?.sends, 1)
  t.is(await recordSending(as('payouts', services), sendingKind(world()), first), undefined)
})

test.serial(
  'what was taken before a restore is not sent after its acceptance, but taken again',
  async (t) => {
    const { reference, second } = await createTakenTwice()
    const { services, db } = world()
    t.teardown(() => db('database_epoch').update({ restored_at: null }))
    await db('database_epoch').update({ restored_at: db.raw('clock_timestamp()') })
    t.is(await recordSending(as('payouts', services), sendingKind(world()), second), undefined)
    t.like(await readWithdrawalRow(world(), reference), { send_state: 'not_sent', sends: 0 })
  },
)

test.serial('a late refusal of the first worker fails no payout that the second one sends', async (t) => {
  const { ada, reference, first, second } = await createTakenTwice()
  const { services } = world()
  await recordSending(as('payouts', services), sendingKind(world()), second)
  await recordRefused(as('payouts', services), sendingKind(world()), first, 'No such account')
  await recordUnsent(as('payouts', services), sendingKind(world()), first, 'unavailable')
  t.like(await readWithdrawalRow(world(), reference), {
    status: 'pending',
    send_state: 'sending',
    sends: 1,
  })
  await recordAccepted(as('payouts', services), sendingKind(world()), second, `TRF_${reference}`)
  t.is((await readWithdrawalRow(world(), reference)).status, 'submitted')
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
})

test.serial('a refusal counts only for its own request, and only if that is the only request', async (t) => {
  const { ada, reference, second } = await createTakenTwice()
  const { services, db } = world()
  const sending = await recordSending(as('payouts', services), sendingKind(world()), second)
  if (sending === undefined) return t.fail('it may be sent')
  await recordRefused(as('payouts', services), sendingKind(world()), second, 'No', {
    sends: 1,
    at: new Date(sending.at.getTime() - 1),
  })
  t.is((await readWithdrawalRow(world(), reference)).status, 'pending')
  await db('withdrawals').where({ reference }).update({ sends: 2 })
  await recordRefused(as('payouts', services), sendingKind(world()), second, 'No', sending)
  await recordUnsent(as('payouts', services), sendingKind(world()), second, 'unavailable', sending)
  t.like(await readWithdrawalRow(world(), reference), { status: 'pending', sends: 2 })
  await db('withdrawals').where({ reference }).update({ sends: 1 })
  await recordRefused(as('payouts', services), sendingKind(world()), second, 'No', sending)
  t.is((await readWithdrawalRow(world(), reference)).status, 'failed')
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 20, heldUSDC: 0 })
})

test.serial('an acceptance after the creator got the money back opens a review', async (t) => {
  const { reference, second } = await createTakenTwice()
  const { services, db } = world()
  const sending = await recordSending(as('payouts', services), sendingKind(world()), second)
  await recordRefused(as('payouts', services), sendingKind(world()), second, 'No', sending)
  const before = await countAlerts(world(), 'payout_paid_after_failed')
  await recordAccepted(as('payouts', services), sendingKind(world()), second, `TRF_${reference}`)
  t.is(await countAlerts(world(), 'payout_paid_after_failed'), before + 1)
  t.is((await readWithdrawalRow(world(), reference)).status, 'failed')
  const reviews = await db('review_items').where({ withdrawal_id: second.id })
  t.deepEqual(
    reviews.map(({ kind }) => kind),
    ['paid_after_failed'],
  )
})

test.serial('an acceptance counts in every state that a request may have led to', async (t) => {
  const { services, db } = world()
  for (const state of ['unknown', 'resend', 'manual_review']) {
    const { reference, second } = await createTakenTwice()
    await recordSending(as('payouts', services), sendingKind(world()), second)
    await db('withdrawals').where({ reference }).update({ send_state: state })
    await recordAccepted(as('payouts', services), sendingKind(world()), second, `TRF_${reference}`)
    t.like(await readWithdrawalRow(world(), reference), { status: 'submitted', send_state: 'sent' }, state)
  }
  const { reference, second } = await createTakenTwice()
  const message = 'a payout was accepted in not_sent'
  await t.throwsAsync(
    recordAccepted(as('payouts', services), sendingKind(world()), second, `TRF_${reference}`),
    { message },
  )
  t.is((await readWithdrawalRow(world(), reference)).status, 'pending')
})

test.serial('an acceptance answers whether it was sent, and says nothing about its amount', async (t) => {
  const { services, db } = world()
  const { reference, second } = await createTakenTwice()
  const payouts = as('payouts', services)
  await recordSending(payouts, sendingKind(world()), second)
  await db('withdrawals').where({ reference }).update({ send_state: 'manual_review' })
  await db('review_items').insert(
    ['debt', 'unknown', 'mismatch'].map((kind) => ({ withdrawal_id: second.id, kind, details: {} })),
  )
  await recordAccepted(payouts, sendingKind(world()), second, `TRF_${reference}`)
  const reviews = await db('review_items').where({ withdrawal_id: second.id }).orderBy('kind')
  const resolution = 'the provider shows it accepted'
  t.like(reviews, [
    { kind: 'debt', resolution },
    { kind: 'mismatch', resolved_at: null },
    { kind: 'unknown', resolution },
  ])
})

test.serial('a late refusal of the only request leaves nobody to decide whether it was sent', async (t) => {
  const { services, db } = world()
  const { reference, second } = await createTakenTwice()
  const payouts = as('payouts', services)
  const sending = await recordSending(payouts, sendingKind(world()), second)
  await db('withdrawals').where({ reference }).update({ send_state: 'manual_review' })
  await db('review_items').insert({ withdrawal_id: second.id, kind: 'unknown', details: {} })
  await recordRefused(payouts, sendingKind(world()), second, 'No such account', sending)
  t.like(await readWithdrawalRow(world(), reference), { status: 'failed', send_state: 'refused' })
  const open = await db('review_items').where({ withdrawal_id: second.id, resolved_at: null })
  t.deepEqual(open, [])
})
