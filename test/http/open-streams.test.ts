import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)
const path = `/chain/tips/stream?wallet=${encodeBase58(Buffer.alloc(32, 7))}`
const mostStreams = 20

async function limitedUrl(t: ExecutionContext): Promise<string> {
  return (await startApp(t, { ...world().env, RATE_LIMIT_FACTOR: '1', TRUST_PROXY: 'true' })).url
}

interface Opened {
  readonly status: number
  readonly response: IncomingMessage
  readonly close: () => void
}

function open(t: ExecutionContext, url: string, address: string): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': address }
    const sent: ClientRequest = request(new URL(path, url), { headers, agent: false })
    const close = (): void => {
      sent.destroy()
    }
    t.teardown(close)
    sent.on('error', reject).on('response', (response) => {
      // The teardown destroys the request, which is an error here.
      response.on('error', () => undefined).resume()
      resolve({ status: response.statusCode ?? 0, response, close })
    })
    sent.end()
  })
}

test('the 21st open stream of a client address is refused until another one closes', async (t) => {
  const url = await limitedUrl(t)
  const streams = await Promise.all(Array.from({ length: mostStreams }, () => open(t, url, '192.0.2.1')))
  t.true(streams.every(({ status }) => status === 200))
  const refused = await open(t, url, '192.0.2.1')
  t.is(refused.status, 429)
  t.true(String(refused.response.headers['content-type']).startsWith('application/json'))
  t.true(Number(refused.response.headers['retry-after']) >= 1)
  t.is((await open(t, url, '192.0.2.2')).status, 200, 'another address')
  streams[0]?.close()
  await until('another stream may open', async () => (await open(t, url, '192.0.2.1')).status === 200)
  t.is((await open(t, url, '192.0.2.1')).status, 429)
})

test('a stream refused for another reason does not count', async (t) => {
  const url = await limitedUrl(t)
  const openInvalid = () =>
    fetch(`${url}/chain/tips/stream?wallet=nonsense`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
  for (let i = 0; i < mostStreams + 5; i++) t.is((await openInvalid()).status, 400)
})
