import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Writable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { type HealthOptions, startHealthServer } from '../../src/http/health-endpoints.js'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { until } from '../helpers/until.js'

const switches: HealthOptions['switches'] = {
  isStopped: (name) => name === 'payouts' || name === 'maintenance',
  isRestored: () => true,
}

/** A health server with this readiness, and the lines it has logged. */
async function startServer(t: ExecutionContext, ready: HealthOptions['ready']) {
  const lines: string[] = []
  const into = new Writable({
    write(line, _encoding, done) {
      lines.push(String(line))
      done()
    },
  })
  const metrics = createMetrics()
  const fillGauges = async () => metrics.stateAgeSeconds.set(7)
  const server = await startHealthServer(0, {
    metrics,
    ready,
    switches,
    fillGauges,
    log: pino(into),
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { port, lines, get: (path: string) => requestRaw(`http://127.0.0.1:${port}`, 'GET', path) }
}

for (const [status, answer] of [
  ['ok', 200],
  ['degraded', 200],
  ['unavailable', 503],
] as const)
  test(`GET /ready answers ${answer} when the worker is ${status}`, async (t) => {
    const { get } = await startServer(t, async () => status)
    const ready = await get('/ready')
    const words = {
      payouts: 'off',
      intents: 'on',
      'naira-intents': 'on',
      registrations: 'on',
      swaps: 'on',
      maintenance: 'on',
    }
    t.deepEqual([ready.status, JSON.parse(ready.text)], [answer, { status, switches: words, restored: true }])
    t.deepEqual(JSON.parse((await get('/health')).text), { status: 'ok' })
    const { text } = await get('/metrics')
    t.regex(text, /^# TYPE tipping_drain_errors_total counter$/m)
    t.regex(text, /^tipping_state_age_seconds 7$/m, 'the gauges are filled before they are read')
  })

test('a failed readiness check answers 500 and is logged', async (t) => {
  const { get, lines } = await startServer(t, () => Promise.reject(new Error('cannot say')))
  t.is((await get('/ready')).status, 500)
  t.is(lines.length, 1)
  t.like(JSON.parse(lines[0] ?? ''), { err: { message: 'cannot say' }, msg: 'a probe was not answered' })
})

test('a connection that breaks during a probe is logged, and the server keeps serving', async (t) => {
  let requested = false
  let answer: () => void = () => undefined
  const { port, get, lines } = await startServer(t, async () => {
    requested = true
    await new Promise<void>((done) => {
      answer = done
    })
    return 'ok'
  })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /ready HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('the probe has arrived', () => requested)
  socket.resetAndDestroy()
  await once(socket, 'close')
  await until('the break is logged', () => lines.length > 0)
  answer()
  t.like(JSON.parse(lines[0] ?? ''), { err: { code: 'ECONNRESET' }, msg: 'a probe was not answered' })
  t.is((await get('/health')).status, 200)
})
