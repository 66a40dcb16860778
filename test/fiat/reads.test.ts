import test from 'ava'
import { follow } from '../helpers/http/stream-reader.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true })

interface EventsBody {
  readonly events: readonly { readonly eventId: string; readonly timestamp: string }[]
}

test('a completed fiat tip is an SDK event, a pending one is not, and `since` skips none', async (t) => {
  const creator = await registerEmbedder(world())
  const path = `/sdk/events?creatorId=${creator.id}`
  const events = async (query = '') =>
    (await world().request<EventsBody>('GET', `${path}${query}`, { bearer: creator.apiKey })).body.events
  const tip = { creatorId: creator.id, amount: 12.34, senderName: 'Bola' }
  const { intentId } = await createFiatIntent(world(), tip)
  t.deepEqual(await events(), [])
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
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
  const second = await createFiatIntent(world(), tip)
  payFiatIntent(world(), second.intentId)
  await settleIntentNow(world(), second.intentId)
  const later = await events(`&since=${event?.timestamp}`)
  t.deepEqual(
    later.map(({ eventId }) => eventId),
    [second.intentId],
  )
})

test('a stream reader that reconnects gets the fiat tips that it missed', async (t) => {
  const creator = await registerEmbedder(world())
  const payTip = async (memo: string): Promise<void> => {
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.id, amount: 5, memo })
    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
  }
  const first = await follow(t, world().url, creator.wallet)
  await payTip('one')
  await until('the first event', () => first.tips.length === 1)
  first.close()
  await payTip('two')
  const again = await follow(t, world().url, creator.wallet, String(first.tips[0]?.id))
  await until('the missed event', () => again.tips.length === 1)
  t.is(again.tips[0]?.data['message'], 'two')
})
