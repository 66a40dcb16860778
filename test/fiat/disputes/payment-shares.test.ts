import test from 'ava'
import { findCollectionDifferences } from '../../../src/fiat/disputes/compare-collections.js'
import { divideLoss, type Loss } from '../../../src/fiat/disputes/payment-shares.js'
import { seededRandom, seededRuns } from '../../helpers/random.js'

test('losses of any parts of a payment add up to what it brought, and never take a naira twice', (t) => {
  const { seed, numRuns } = seededRuns(t, 300)
  const random = seededRandom(seed)
  const upTo = (most: number) => BigInt(Math.floor(random() * most))
  for (let run = 0; run < numRuns; run++) {
    const creditedKobo = 1n + upTo(1e7)
    const creatorMicro = upTo(1e7)
    const feeMicro = upTo(1e6)
    const suspense = upTo(1e6)
    let left = { suspenseKobo: suspense, creditedKobo, costMicro: creatorMicro, feeMicro, goneKobo: 0n }
    const sum: Loss = { suspenseKobo: 0n, creditedKobo: 0n, debitMicro: 0n, feeMicro: 0n }
    const total: Record<keyof Loss, bigint> = { ...sum }
    for (let part = 0; part < 6; part++) {
      const kobo = part === 5 ? 10n ** 12n : upTo(4e6)
      const loss = divideLoss(left, kobo)
      t.true(loss.suspenseKobo + loss.creditedKobo <= kobo)
      t.true(loss.creditedKobo === 0n || loss.suspenseKobo === left.suspenseKobo, 'suspense goes first')
      for (const key of ['suspenseKobo', 'creditedKobo', 'debitMicro', 'feeMicro'] as const)
        total[key] += loss[key]
      // Rounded down for the creator, over all parts so far.
      t.true(total.debitMicro * creditedKobo <= creatorMicro * total.creditedKobo)
      left = {
        ...left,
        suspenseKobo: left.suspenseKobo - loss.suspenseKobo,
        goneKobo: left.goneKobo + loss.creditedKobo,
      }
    }
    t.deepEqual(total, { suspenseKobo: suspense, creditedKobo, debitMicro: creatorMicro, feeMicro })
  }
})

const paidAt = new Date('2026-11-20T10:00:00Z')
const grace = {
  since: paidAt.getTime() + 3_600_000,
  polled: new Set<string>(),
  polledSince: paidAt.getTime(),
}
const payment = {
  transaction: '7',
  reference: 'tip-7',
  kobo: 1000n,
  feeKobo: 0n,
  byCard: false,
  reversed: false,
  paidAt,
}
const own = { transaction: '7', kobo: 1000n, goneKobo: 0n, mustBeListed: true }
const dispute = {
  id: '3',
  transaction: '7',
  reference: 'tip-7',
  kobo: 400n,
  state: 'open',
  autoAccepted: false,
  category: null,
  createdAt: paidAt,
  dueAt: null,
  resolvedAt: null,
} as const
const ownDispute = { id: '3', state: 'open', kobo: 400n, mustBeListed: true } as const
const nothing = { payments: [], refunds: [], disputes: [] }

test('the comparison names what one side lacks, and what the two show differently', (t) => {
  const compare = (...args: Parameters<typeof findCollectionDifferences>) =>
    findCollectionDifferences(...args).map(({ subject, kind }) => `${subject}: ${kind}`)
  const listed = { payments: [payment], refunds: [], disputes: [dispute] }
  t.deepEqual(compare(listed, [own], [ownDispute], grace), [])
  t.deepEqual(compare(listed, [], [], grace), ['payment 7: not_ours', 'dispute 3: not_ours'])
  const polled = new Set([payment.reference])
  const recent = { ...grace, since: paidAt.getTime() - 1 }
  t.deepEqual(compare(listed, [], [], recent), [], 'both may be on their way')
  t.deepEqual(compare(listed, [], [ownDispute], { ...grace, polled }), [], 'settlement fetches it')
  t.deepEqual(compare(listed, [], [ownDispute], { ...grace, polled, polledSince: paidAt.getTime() + 1 }), [
    'payment 7: not_ours',
  ])
  t.deepEqual(compare(nothing, [own], [ownDispute], grace), [
    'payment 7: not_theirs',
    'dispute 3: not_theirs',
  ])
  t.deepEqual(compare({ ...nothing, payments: [{ ...payment, kobo: 999n }] }, [own], [], grace), [
    'payment 7: amount',
  ])
  const reversed = { ...nothing, payments: [{ ...payment, reversed: true }] }
  t.deepEqual(compare(reversed, [own], [], grace), ['payment 7: state'])
  t.deepEqual(compare(reversed, [{ ...own, goneKobo: 1000n }], [], grace), [])
  t.deepEqual(compare(reversed, [], [], grace), [], 'one that was never recorded credited nothing')
  const lost = { ...nothing, payments: [payment], disputes: [{ ...dispute, state: 'lost' as const }] }
  t.deepEqual(compare(lost, [own], [ownDispute], grace), ['returns of payment 7: amount', 'dispute 3: state'])
  t.deepEqual(compare(lost, [{ ...own, goneKobo: 400n }], [{ ...ownDispute, state: 'lost' }], grace), [])
  const refunds = [{ id: '5', transaction: '7', kobo: 700n, state: 'paid' }]
  t.deepEqual(
    compare({ ...lost, refunds }, [{ ...own, goneKobo: 1000n }], [{ ...ownDispute, state: 'lost' }], grace),
    [],
  )
})
