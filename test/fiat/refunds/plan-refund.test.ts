import test from 'ava'
import { type CreditedPayment, planRefund } from '../../../src/fiat/refunds/plan-refund.js'
import { seededRandom, seededRuns } from '../../helpers/random.js'

const payment: CreditedPayment = {
  transaction: '1',
  creditedKobo: 1_443_999n,
  creatorMicro: 9_500_000n,
  feeMicro: 3n,
  goneKobo: 0n,
  ageDays: 0,
}

test('a part gives the payer its share rounded up, and debits the creator what the tip credited for it', (t) => {
  t.deepEqual(planRefund([payment], 1000n, 300n, undefined), [
    { transaction: '1', amountCents: 300n, kobo: 433_200n, debitMicro: 2_850_001n, feeMicro: 0n },
  ])
  t.deepEqual(planRefund([payment], 1000n, 1000n, undefined), [
    { transaction: '1', amountCents: 1000n, kobo: 1_443_999n, debitMicro: 9_500_000n, feeMicro: 3n },
  ])
  const [dearer] = planRefund([payment], 1000n, 1000n, 1_430n * 10n ** 8n)
  t.is(dearer?.debitMicro, (1_443_999n * 10_000n) / 1_430n - 3n, 'at a rate that makes its naira dearer')
  const [cheaper] = planRefund([payment], 1000n, 1000n, 1_780n * 10n ** 8n)
  t.is(cheaper?.debitMicro, 9_500_000n)
})

test('a tip of several payments takes the one with most left first, and the parts add up', (t) => {
  const late = {
    ...payment,
    transaction: '2',
    creditedKobo: 500_001n,
    creatorMicro: 3_200_000n,
    feeMicro: 160_000n,
  }
  const parts = planRefund([late, payment], 1337n, 1337n, undefined)
  t.deepEqual(
    parts.map(({ transaction, kobo, debitMicro, feeMicro }) => [transaction, kobo, debitMicro, feeMicro]),
    [
      ['1', 1_443_999n, 9_500_000n, 3n],
      ['2', 500_001n, 3_200_000n, 160_000n],
    ],
  )
  t.is(
    parts.reduce((sum, { amountCents }) => sum + amountCents, 0n),
    1337n,
  )
  t.is(planRefund([late, payment], 1337n, 100n, undefined).length, 1)
})

test('whatever the parts, and whichever of them fail: at the end exactly what was paid and credited is gone', (t) => {
  const next = seededRandom(seededRuns(t).seed)
  const whole = (least: number, most: number) => BigInt(least + Math.floor(next() * (most - least + 1)))
  for (let run = 0; run < 500; run++) {
    const cents = whole(2, 1_000_000)
    // A cent is some kobo.
    const credited = cents * whole(50, 2000) + whole(0, 50)
    const start = {
      ...payment,
      creditedKobo: credited,
      creatorMicro: whole(100_000, 1_000_000_000),
      feeMicro: whole(0, 50_000_000),
    }
    let now = start
    let left = cents
    let debited = 0n
    let given = 0n
    for (let parts = 0; left > 0n; parts++) {
      const amount = parts > 30 ? left : whole(1, Number(left))
      const [part] = planRefund([now], left, amount, undefined)
      if (part === undefined) return t.fail('no part')
      t.true(part.kobo > 0n && part.debitMicro >= 0n && part.feeMicro >= 0n)
      if (next() < 0.2) continue
      left -= amount
      now = {
        ...now,
        goneKobo: now.goneKobo + part.kobo,
      }
      debited += part.debitMicro
      given += part.feeMicro
      // The payer never has less than the share of what was given back, and less than two kobo more.
      const share = now.goneKobo * cents - credited * (cents - left)
      t.true(share >= 0n && share < 2n * cents * BigInt(parts + 1), `${share}`)
    }
    t.deepEqual([now.goneKobo, debited, given], [credited, start.creatorMicro, start.feeMicro])
  }
})
