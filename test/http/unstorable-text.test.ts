import test from 'ava'
import { exampleOf, noteOf } from '../../src/manual/fields.js'
import { type Call, callsOf, type OpenApi } from '../../src/manual/read-openapi.js'
import { readDocument } from '../helpers/http/openapi-document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { createSession, registerEmbedder, site } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0', WALLET_WAIT_MS: '0' } })

/** PostgreSQL refuses text with this character. JSON and URLs can contain it. */
const nul = '\u0000'
/** The character alone, and at the end of a valid text. */
const withNul = (text: string): string[] => [nul, `${text}${nul}`]

interface Attempt {
  readonly name: string
  readonly address: string
  readonly body?: string
}

/** 500 is a failure. The others are answered before the input is read, so they would make this test useless. */
const unwantedStatuses: ReadonlySet<number> = new Set([500, 405, 415, 429])

/** Requests from the manual's example of a call, each with a NUL in one of its texts. */
function attemptsFor(call: Call, known: Readonly<Record<string, string>>): Attempt[] {
  const parameters = call.operation.parameters ?? []
  const sample = (name: string): string =>
    known[name] ?? String(noteOf({ call, direction: '>', name }).example ?? '')
  const address = (change: Readonly<Record<string, string>> = {}): string => {
    const given = (name: string): string => encodeURIComponent(change[name] ?? sample(name))
    const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given(name))
    const query = parameters.filter((one) => one.in === 'query' && (one.required || one.name in change))
    return `${path}?${query.map(({ name }) => `${name}=${given(name)}`).join('&')}`
  }
  const inAddress = parameters
    .filter((one) => one.in !== 'header')
    .flatMap(({ name }) =>
      withNul(sample(name)).map((text) => ({ name, address: address({ [name]: text }) })),
    )
  return [...inAddress, ...bodiesFor(call, known).map((one) => ({ ...one, address: address() }))]
}

/** Bodies with the NUL in a field, in a list and in a field name. */
function bodiesFor(
  call: Call,
  known: Readonly<Record<string, string>>,
): { readonly name: string; readonly body: string }[] {
  if (call.body === undefined) return []
  const example = exampleOf(call, '>', call.body) as Record<string, unknown>
  const valid = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, known[name] ?? value]),
  )
  return Object.keys(call.body.properties ?? {}).flatMap((name) =>
    withNul(String(valid[name] ?? 'x'))
      .flatMap((text) => [text, [text], { [text]: text }])
      .map((value) => ({ name, body: JSON.stringify({ ...valid, [name]: value }) })),
  )
}

test('a NUL in any field of any endpoint never causes an internal error', async (t) => {
  t.timeout(120_000)
  const ada = await registerEmbedder(world())
  const { sessionToken } = await createSession(world(), ada)
  const bearers: Readonly<Record<string, string>> = {
    apiKey: ada.apiKey,
    sdkSession: sessionToken,
    accessToken: ada.accessToken,
  }
  const document = (await readDocument(world().request)) as unknown as OpenApi
  const known = {
    creatorId: ada.id,
    creatorWallet: ada.wallet,
    address: ada.wallet,
    wallet: ada.wallet,
    originUrl: `${site}/`,
  }
  const failed: string[] = []
  let requests = 0
  for (const call of callsOf(document)) {
    if (call.path === '/auth/logout') continue
    const needed = call.operation.security.flatMap((requirement) => Object.keys(requirement))
    const bearer = needed.map((name) => bearers[name]).find((token) => token !== undefined)
    const headers = {
      ...(needed.includes('session') ? { cookie: `session=${ada.session}` } : {}),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
    }
    for (const { name, address, body } of attemptsFor(call, known)) {
      requests += 1
      const answer = await requestRaw(world().url, call.method, address, headers, body)
      if (unwantedStatuses.has(answer.status))
        failed.push(`${call.key} ${name}: ${address} ${body} ${answer.status}`)
    }
  }
  t.log(`${requests} requests`)
  t.deepEqual(failed, [])
})
