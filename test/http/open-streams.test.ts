import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { startApp } from '../helpers/servers/second-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)
const path = `/chain/tips/stream?wallet=${encodeBase58(Buffer.alloc(32, 7))}`
const atOnce = 20

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
    const asked: ClientRequest = request(new URL(path, url), { headers, agent: false })
    const close = (): void => {
      asked.destroy()
    }
    t.teardown(close)
    asked.on('error', reject).on('response', (response) => {
      // Destroyed by us in the end.
      response.on('error', () => undefined).resume()
      resolve({ status: response.statusCode ?? 0, response, close })
    })
    asked.end()
  })
}

test('the 21st stream of an address is refused before it opens, and one that closes makes room', async (t) => {
  const url = await limitedUrl(t)
  const streams = await Promise.all(Array.from({ length: atOnce }, () => open(t, url, '192.0.2.1')))
  t.true(streams.every(({ status }) => status === 200))
  const refused = await open(t, url, '192.0.2.1')
  t.is(refused.status, 429)
  t.true(String(refused.response.headers['content-type']).startsWith('application/json'))
  t.true(Number(refused.response.headers['retry-after']) >= 1)
  t.is((await open(t, url, '192.0.2.2')).status, 200, 'another address')
  streams[0]?.close()
  await until('a place is free', async () => (await open(t, url, '192.0.2.1')).status === 200)
  t.is((await open(t, url, '192.0.2.1')).status, 429)
})

test('a stream that is refused for another reason takes no place', async (t) => {
  const url = await limitedUrl(t)
  const ask = () =>
    fetch(`${url}/chain/tips/stream?wallet=nonsense`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
  for (let i = 0; i < atOnce + 5; i++) t.is((await ask()).status, 400)
})
