import test from 'ava'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true })

test('a world with a fiat provider has exchange rates, and its webhooks reach the app', async (t) => {
  const { env, fiat } = world()
  const headers = { authorization: `Bearer ${env['FIATPAY_SECRET_KEY']}`, connection: 'close' }
  t.is((await fetch(`${env['FIATPAY_URL']}/bank`, { headers })).status, 200)
  t.is((await fetch(env['RATE_URL'] ?? '', { headers })).status, 200)
  fiat.fiatpay.webhooks.send('charge.success', { reference: 'any' })
  await until('the app has answered', () => fiat.fiatpay.webhooks.deliveries()[0]?.status !== null)
})
