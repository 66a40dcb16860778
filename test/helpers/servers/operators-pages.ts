import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { closeServer } from '../../../scripts/sandbox/http-server.js'
import { operatorsPages } from '../../../src/operators/routes.js'
import { requestRaw } from '../http/raw-request.js'
import type { World } from './world.js'

export const operatorsLogin = { user: 'olu', password: 'sixteen letters at least' }

export const basicLogin = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

/** Serves the operators' pages for one test, behind as many proxies. Returns a function that requests a path of them. */
export async function startOperatorsPages(
  t: ExecutionContext,
  { services }: Pick<World, 'services'>,
  trustProxy = 0,
) {
  const config = { ...services.config, http: { ...services.config.http, trustProxy } }
  const server = createServer(operatorsPages({ ...services, config }, operatorsLogin))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => closeServer(server))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const login = basicLogin(operatorsLogin.user, operatorsLogin.password)
  return (path: string, headers: Record<string, string> = login, method = 'GET') =>
    requestRaw(url, method, path, headers)
}
