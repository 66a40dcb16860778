import test from 'ava'
import { startFiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { createFiatpayPayouts } from '../../../src/providers/fiatpay/payouts.js'
import { seededRandom, seededRuns } from '../../helpers/random.js'
import { temporaryFolder } from '../../helpers/temporary-folder.js'
import { createCaller, newRecipient, newReference, startFiatFor, transferBody } from './client.js'

test('the fees are those of the provider, at the edges of its bands', async (t) => {
  const { post, get, control } = createCaller(await startFiatFor(t))
  await control('fiatpay/mode', { fees: 'on', transfers: 'manual' })
  for (const [amount, fees] of [
    [10_000, 150],
    [10_001, 151],
    [249_999, 3750],
    [250_000, 13_750],
    [12_666_600, 199_999],
    [12_666_700, 200_000],
    [900_000_000, 200_000],
  ] as const) {
    const reference = newReference()
    await post('/transaction/initialize', { email: 'a@example.com', amount, reference })
    await control(`fiatpay/charges/${reference}`, { outcome: 'paid' })
    t.like((await get(`/transaction/verify/${reference}`)).body.data, { amount, fees })
  }
  const recipient = await newRecipient({ post })
  for (const [amount, fee_charged] of [
    [500_000, 1000],
    [500_001, 2500],
    [5_000_000, 2500],
    [5_000_001, 5000],
  ] as const) {
    const reference = newReference()
    await post('/transfer', transferBody(recipient, reference, amount))
    t.like((await get(`/transfer/verify/${reference}`)).body.data, { amount, fee_charged })
  }
})

test('a transfer or a refund beyond the balance is refused, and a top-up helps', async (t) => {
  const fiat = await startFiatFor(t, { fees: true })
  const { post, control } = createCaller(fiat)
  const charge = newReference()
  await post('/transaction/initialize', { email: 'a@example.com', amount: 100_000, reference: charge })
  await control(`fiatpay/charges/${charge}`, { outcome: 'paid' })
  const recipient = await newRecipient({ post })
  await control('fiatpay/balance', { balanceKobo: 100_999 })
  const reference = newReference()
  const send = async () => (await post('/transfer', transferBody(recipient, reference, 100_000))).body.code
  t.is(await send(), 'insufficient_balance')
  await control('fiatpay/balance', { balanceKobo: 101_000 })
  t.is(await send(), undefined)
  t.is(fiat.fiatpay.balanceKobo, 0)
  t.is((await post('/refund', { transaction: charge })).body.code, 'insufficient_balance')
  t.is(fiat.fiatpay.log().refunds.length, 0)
  t.is((await control('fiatpay/balance', { balanceKobo: 0.5 })).status, 400)
})

test('the balance is what all payments, transfers, refunds, disputes and reversals leave', async (t) => {
  const next = seededRandom(seededRuns(t).seed)
  const dataDir = temporaryFolder(t)
  const fiat = await startFiatSandbox({ dataDir, fees: true })
  const { fiatpay } = fiat
  const { post, control } = createCaller(fiat)
  await control('fiatpay/mode', { transfers: 'manual', refunds: 'manual' })
  const recipient = await newRecipient({ post })
  /** The balance, counted from what was asked for and answered. */
  let expected = fiatpay.balanceKobo
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item
  const ok = async (answer: Promise<{ status: number }>) => (await answer).status === 200
  const charges: string[] = []
  const transfers: { reference: string; cost: number }[] = []
  const steps: (() => Promise<void>)[] = [
    async () => {
      const [reference, amount] = [newReference(), 10_000 + Math.floor(next() * 1e6)]
      await post('/transaction/initialize', { email: 'a@example.com', amount, reference })
      if (await ok(control(`fiatpay/charges/${reference}`, { outcome: 'paid' })))
        expected += amount - (fiatpay.charges.find(reference)?.payments[0]?.feeKobo ?? Number.NaN)
      charges.push(reference)
    },
    async () => {
      const [reference, amount] = [newReference(), 10_000 + Math.floor(next() * 1e7)]
      if (!(await ok(post('/transfer', transferBody(recipient, reference, amount))))) return
      const cost = amount + (amount <= 500_000 ? 1000 : amount <= 5_000_000 ? 2500 : 5000)
      expected -= cost
      transfers.push({ reference, cost })
    },
    async () => {
      const transfer = pick(transfers)
      const before = fiatpay.transfers.find(transfer.reference)?.status
      const outcome = pick(['success', 'failed', 'reversed'] as const)
      await control(`fiatpay/transfers/${transfer.reference}`, { outcome })
      const [was, is] = [before, outcome].map((status) => status === 'failed' || status === 'reversed')
      if (is !== was) expected += is ? transfer.cost : -transfer.cost
    },
    async () => {
      const amount = 5000
      if (await ok(post('/refund', { transaction: pick(charges), amount }))) expected -= amount
    },
    async () => {
      const refund = fiatpay.refunds.find(pick(charges))
      if (refund === undefined || refund.status === 'failed') return
      const outcome = pick(['processing', 'processed', 'failed'] as const)
      await control(`fiatpay/refunds/${refund.reference}`, { outcome })
      if (outcome === 'failed') expected += refund.amountKobo
    },
    async () => {
      const answer = control(`fiatpay/charges/${pick(charges)}`, { outcome: 'disputed', amountKobo: 4000 })
      t.true([200, 409].includes((await answer).status))
    },
    async () => {
      const outcome = pick(['won', 'lost'] as const)
      if ((await ok(control(`fiatpay/disputes/${pick(charges)}`, { outcome }))) && outcome === 'lost')
        expected -= 4000
    },
  ]
  for (const step of steps.slice(0, 2)) await step()
  for (let count = 0; count < 300; count++) {
    await pick(steps)()
    t.is(fiatpay.balanceKobo, expected)
  }
  const [charge = ''] = charges
  const payout = createFiatpayPayouts({
    url: `${fiat.url}/fiatpay`,
    secretKey: fiatpay.secretKey,
    timeoutMs: 10_000,
    deduplicates: true,
  })
  t.is(await payout.readBalance(), BigInt(expected))
  t.not(fiatpay.charges.find(charge), undefined)
  await fiat.close()
  const restarted = await startFiatFor(t, { dataDir })
  t.is(restarted.fiatpay.balanceKobo, expected)
  t.is(restarted.fiatpay.log().balance.balanceKobo, expected)
})
