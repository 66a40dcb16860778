import test from 'ava'
import { follow } from '../helpers/http/stream-reader.js'
import { fiatIntent, pay, settleNow } from '../helpers/make/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true })

interface EventsBody {
  readonly events: readonly { readonly eventId: string; readonly timestamp: string }[]
}

test('a completed fiat tip is an event as agreed, a pending one is none, and since skips none', async (t) => {
  const creator = await registerEmbedder(world())
  const path = `/sdk/events?creatorId=${creator.id}`
  const events = async (query = '') =>
    (await world().request<EventsBody>('GET', `${path}${query}`, { bearer: creator.apiKey })).body.events
  const tip = { creatorId: creator.id, amount: 12.34, senderName: 'Bola' }
  const { intentId } = await fiatIntent(world(), tip)
  t.deepEqual(await events(), [])
  pay(world(), intentId)
  await settleNow(world(), intentId)
  const [event] = await events()
  t.like(event, {
    eventId: intentId,
    txSignature: intentId,
    type: 'tip_completed',
    tokenSymbol: 'FIAT',
    amountUsdc: 0,
    amountRaw: 1234,
    receivedAmount: 11.72,
    sender: 'Bola',
  })
  const second = await fiatIntent(world(), tip)
  pay(world(), second.intentId)
  await settleNow(world(), second.intentId)
  const later = await events(`&since=${event?.timestamp}`)
  t.deepEqual(
    later.map(({ eventId }) => eventId),
    [second.intentId],
  )
})

test('a reader that comes back is given the fiat tips it missed', async (t) => {
  const creator = await registerEmbedder(world())
  const give = async (memo: string): Promise<void> => {
    const { intentId } = await fiatIntent(world(), { creatorId: creator.id, amount: 5, memo })
    pay(world(), intentId)
    await settleNow(world(), intentId)
  }
  const first = await follow(t, world().url, creator.wallet)
  await give('one')
  await until('the first event', () => first.tips.length === 1)
  first.close()
  await give('two')
  const again = await follow(t, world().url, creator.wallet, String(first.tips[0]?.id))
  await until('the missed event', () => again.tips.length === 1)
  t.is(again.tips[0]?.data['message'], 'two')
})

test('the creator finds fiat tips by token and state, and their worth in the days', async (t) => {
  const creator = await registerEmbedder(world())
  const paid = await fiatIntent(world(), { creatorId: creator.id, amount: 10, memo: '<b>=cmd</b>' })
  await fiatIntent(world(), { creatorId: creator.id, amount: 20 })
  pay(world(), paid.intentId)
  await settleNow(world(), paid.intentId)
  const own = async (query: string) =>
    (await world().request<{ tips: { amount: number }[] }>('GET', `/creators/tips?${query}`, creator)).body
      .tips
  t.deepEqual(
    (await own('token=FIAT')).map(({ amount }) => amount),
    [20, 10],
  )
  t.deepEqual(
    (await own('token=FIAT&status=confirmed')).map(({ amount }) => amount),
    [10],
  )
  t.deepEqual(
    (await own('status=pending')).map(({ amount }) => amount),
    [20],
  )
  t.deepEqual(await own('token=SOL'), [])
  const daily = await world().request<{ days: object[] }>('GET', '/creators/tips/daily?days=1', creator)
  t.like(daily.body.days[0], { count: 1, valueUsd: 10 })
})
