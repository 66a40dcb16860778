import test from 'ava'
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
