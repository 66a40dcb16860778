import test from 'ava'
import { type FiatSandbox, startFiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import type { Dispute, DisputeAnswer } from '../../../src/ports/disputes.js'
import { createFiatpayCollections } from '../../../src/providers/fiatpay/collections.js'
import { createFiatpayDisputes } from '../../../src/providers/fiatpay/disputes.js'
import { temporaryFolder } from '../../helpers/temporary-folder.js'
import { until } from '../../helpers/until.js'
import { createCaller, newReference, startFiatFor } from './client.js'

const amount = 500_000
const hourMs = 3_600_000
const file = { name: 'e.pdf', type: 'application/pdf', bytes: new Uint8Array([1]) }
const accept: DisputeAnswer = { answer: 'accept', message: 'Not given', kobo: BigInt(amount), file }
const decline: DisputeAnswer = { answer: 'decline', message: 'Given', kobo: 0n, file }

/** The provider seen through the service's own adapters. */
function adaptersOf({ url, fiatpay }: FiatSandbox) {
  const access = { url: `${url}/fiatpay`, secretKey: fiatpay.secretKey, timeoutMs: 10_000 }
  return {
    disputes: createFiatpayDisputes(access),
    collections: createFiatpayCollections({ ...access, returnUrl: 'https://tips.example' }),
  }
}

async function payCharge({ fiatpay, url }: FiatSandbox): Promise<string> {
  const { post, control } = createCaller({ fiatpay, url } as FiatSandbox)
  const reference = newReference()
  await post('/transaction/initialize', { email: 'a@example.com', amount, reference })
  await control(`fiatpay/charges/${reference}`, { outcome: 'paid' })
  return reference
}

async function listed({ disputes }: Pick<ReturnType<typeof adaptersOf>, 'disputes'>): Promise<Dispute[]> {
  const found: Dispute[] = []
  const [from, to] = [new Date(Date.now() - hourMs), new Date(Date.now() + hourMs)]
  for await (const page of disputes.list(from, to)) found.push(...page)
  return found
}

async function disputeOne(fiat: FiatSandbox): Promise<{ reference: string; dispute: Dispute }> {
  const reference = await payCharge(fiat)
  const { status } = await createCaller(fiat).control(`fiatpay/charges/${reference}`, { outcome: 'disputed' })
  const dispute = (await listed(adaptersOf(fiat))).find((one) => one.reference === reference)
  if (status !== 200 || dispute === undefined) throw new Error('no dispute')
  return { reference, dispute }
}

test('a dispute is open for 16 hours, and takes nothing until it is lost', async (t) => {
  const fiat = await startFiatFor(t)
  const { control } = createCaller(fiat)
  const { disputes, collections } = adaptersOf(fiat)
  const { reference, dispute } = await disputeOne(fiat)
  t.like(dispute, { reference, kobo: 500_000n, state: 'open', category: 'chargeback', resolvedAt: null })
  t.is((dispute.dueAt?.getTime() ?? 0) - dispute.createdAt.getTime(), 16 * hourMs)
  const before = fiat.fiatpay.balanceKobo
  t.is((await collections.findCharge(reference)).status, 'paid')
  const ownId = `FIATPAY-${reference.slice('fiatpay-'.length).toUpperCase()}`
  t.is((await control(`fiatpay/disputes/${ownId}`, { outcome: 'lost' })).status, 200)
  t.like(await disputes.find(dispute.id), { state: 'lost', autoAccepted: true, kobo: 500_000n })
  t.like(await collections.findCharge(reference), { status: 'reversed', newest: { reversed: true } })
  t.is(before - fiat.fiatpay.balanceKobo, amount)
  t.is((await control(`fiatpay/disputes/${ownId}`, { outcome: 'won' })).status, 409)
  t.is((await control(`fiatpay/disputes/${ownId}`, { outcome: 'lost' })).status, 200, 'repeated')
  t.like(fiat.fiatpay.log().disputes, [{ reference, takenKobo: amount, resolution: 'auto-accepted' }])
  t.is(await disputes.find('1'), undefined)
})

test('an accepted dispute takes what was accepted, once; a declined one waits for the bank', async (t) => {
  const fiat = await startFiatFor(t)
  const { disputes, collections } = adaptersOf(fiat)
  const partly = await disputeOne(fiat)
  const before = fiat.fiatpay.balanceKobo
  const evidence = { email: 'a@example.com', name: 'Ada', phone: '0802', service: 'a tip' }
  const id = await disputes.addEvidence(partly.dispute.id, evidence)
  const lost = await disputes.answer(partly.dispute.id, { ...accept, kobo: 200_000n, evidence: id })
  t.like(lost, { state: 'lost', autoAccepted: false, kobo: 200_000n })
  t.is(before - fiat.fiatpay.balanceKobo, 200_000)
  t.is((await collections.findCharge(partly.reference)).status, 'paid')
  for (const again of [accept, decline])
    await t.throwsAsync(disputes.answer(partly.dispute.id, again), {
      instanceOf: ProviderError,
      message: 'Dispute has already been resolved',
    })
  t.is(before - fiat.fiatpay.balanceKobo, 200_000)

  const { control, post } = createCaller(fiat)
  for (const [outcome, state, taken] of [
    ['won', 'won', 0],
    ['lost', 'lost', amount],
  ] as const) {
    const { reference, dispute } = await disputeOne(fiat)
    const held = fiat.fiatpay.balanceKobo
    await t.throwsAsync(disputes.answer(dispute.id, { ...accept, kobo: 500_001n }), {
      message: 'Refund amount cannot be greater than initial amount',
    })
    t.is((await post('/refund', { transaction: reference })).status, 400)
    t.like(await disputes.answer(dispute.id, decline), { state: 'answered', kobo: 500_000n })
    t.is((await control(`fiatpay/disputes/${reference}`, { outcome })).status, 200)
    t.like(await disputes.find(dispute.id), { state, kobo: 500_000n })
    t.is(held - fiat.fiatpay.balanceKobo, taken)
  }
})

test('a dispute that nobody answers is accepted when its time is over, also after a restart', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startFiatSandbox({ dataDir })
  await createCaller(first).control('fiatpay/mode', { disputeDueMs: 200 })
  const before = first.fiatpay.balanceKobo
  const { dispute } = await disputeOne(first)
  await first.close()
  const second = await startFiatFor(t, { dataDir })
  const { disputes } = adaptersOf(second)
  await until('it is accepted', async () => (await disputes.find(dispute.id))?.state === 'lost')
  t.like(await disputes.find(dispute.id), { autoAccepted: true, kobo: 500_000n })
  t.is(second.fiatpay.balanceKobo, before, 'what was paid in is taken back')
})
