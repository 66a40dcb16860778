import { networkInterfaces } from 'node:os'
import test from 'ava'
import { loadOperators } from '../../src/platform/config/own-settings.js'
import { ConfigError } from '../../src/platform/config/read-settings.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { type ServiceProcess, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const login = { OPS_USER: 'olu', OPS_PASSWORD: 'sixteen letters at least' }
const authorization = `Basic ${Buffer.from(`${login.OPS_USER}:${login.OPS_PASSWORD}`).toString('base64')}`

/** The address on which a clock logs that it serves the operators' pages. */
function addressOf({ logs }: ServiceProcess): { readonly address: string; readonly port: number } {
  const line = logs.find(({ msg }) => msg === "operators' pages")
  return line?.['address'] as { address: string; port: number }
}

test('the operators’ pages are off without OPS_PORT, and with it need a user and a password', (t) => {
  t.is(loadOperators({ ...login }), undefined)
  t.is(loadOperators({ ...login, OPS_PORT: '' }), undefined)
  t.deepEqual(loadOperators({ ...login, OPS_PORT: '9000' }), {
    host: '127.0.0.1',
    port: 9000,
    user: login.OPS_USER,
    password: login.OPS_PASSWORD,
  })
  t.is(loadOperators({ ...login, OPS_PORT: '0.0.0.0:9000' })?.host, '0.0.0.0')
  for (const wrong of [
    { OPS_USER: '' },
    { OPS_USER: 'a:b' },
    { OPS_PASSWORD: '' },
    { OPS_PASSWORD: 'short' },
    { OPS_PORT: 'x' },
  ]) {
    const error = t.throws(() => loadOperators({ ...login, OPS_PORT: '9000', ...wrong }), {
      instanceOf: ConfigError,
    })
    t.true(error?.message.includes(Object.keys(wrong)[0] ?? ''))
    t.false(error?.message.includes(login.OPS_PASSWORD))
  }
})

test('the clock serves the operators’ pages on 127.0.0.1 only, and not without OPS_PORT', async (t) => {
  const clock = await startWorkerProcess(t, 'clock', { ...world().env, ...login, OPS_PORT: '0' })
  const { address, port } = addressOf(clock)
  t.is(address, '127.0.0.1')
  const at = (host: string, headers = {}) => requestRaw(`http://${host}:${port}`, 'GET', '/ops', headers)
  t.is((await at('127.0.0.1')).status, 401)
  t.is((await at('127.0.0.1', { authorization })).status, 200)
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)
  if (outside !== undefined) await t.throwsAsync(at(outside.address), { code: 'ECONNREFUSED' })
  t.false(JSON.stringify(clock.logs).includes(login.OPS_PASSWORD))
  clock.signal('SIGTERM')
  t.is(await clock.ended, 0)

  const without = await startWorkerProcess(t, 'clock', { ...world().env, ...login })
  t.false(without.logs.some(({ msg }) => msg === "operators' pages"))
})

test('a clock whose OPS_PORT is taken runs without the operators’ pages', async (t) => {
  const first = await startWorkerProcess(t, 'clock', { ...world().env, ...login, OPS_PORT: '0' })
  const { port } = addressOf(first)
  const second = await startWorkerProcess(t, 'clock', { ...world().env, ...login, OPS_PORT: String(port) })
  t.true(second.logs.some(({ msg }) => msg === "the operators' pages cannot be served"))
  t.true(second.isRunning())
})
