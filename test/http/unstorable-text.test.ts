import test from 'ava'
import { exampleOf, noteOf } from '../../src/manual/chapters/fields.js'
import { type Call, callsOf, type OpenApi } from '../../src/manual/read-openapi.js'
import { readDocument } from '../helpers/http/document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { openSession, registerEmbedder, site } from '../helpers/make/sdk.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0', WALLET_WAIT_MS: '0' } })

/** PostgreSQL keeps no text with this character, and JSON and addresses can carry it. */
const nul = '\u0000'
/** Alone, and in a text that would be taken without it. */
const spoilt = (text: string): string[] => [nul, `${text}${nul}`]

interface Attempt {
  readonly name: string
  readonly address: string
  readonly body?: string
}

/** A fault of ours, and answers before anything is read: then this test looks at nothing. */
const notMeant: ReadonlySet<number> = new Set([500, 405, 415, 429])

/** A call as the manual shows it, one of its texts after the other spoilt. */
function attemptsAt(call: Call, known: Readonly<Record<string, string>>): Attempt[] {
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
    .flatMap(({ name }) => spoilt(sample(name)).map((text) => ({ name, address: address({ [name]: text }) })))
  return [...inAddress, ...bodiesFor(call, known).map((one) => ({ ...one, address: address() }))]
}

/** Its bodies, with the spoilt text as a field, in a list and as a name. */
function bodiesFor(
  call: Call,
  known: Readonly<Record<string, string>>,
): { readonly name: string; readonly body: string }[] {
  if (call.body === undefined) return []
  const example = exampleOf(call, '>', call.body) as Record<string, unknown>
  const asked = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, known[name] ?? value]),
  )
  return Object.keys(call.body.properties ?? {}).flatMap((name) =>
    spoilt(String(asked[name] ?? 'x'))
      .flatMap((text) => [text, [text], { [text]: text }])
      .map((value) => ({ name, body: JSON.stringify({ ...asked, [name]: value }) })),
  )
}

test('a text that cannot be stored is never an internal error, in whatever field of whatever call', async (t) => {
  t.timeout(120_000)
  const ada = await registerEmbedder(world())
  const { sessionToken } = await openSession(world(), ada)
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
  let asked = 0
  for (const call of callsOf(document)) {
    if (call.path === '/auth/logout') continue
    const needed = call.operation.security.flatMap((requirement) => Object.keys(requirement))
    const bearer = needed.map((name) => bearers[name]).find((token) => token !== undefined)
    const headers = {
      ...(needed.includes('session') ? { cookie: `session=${ada.session}` } : {}),
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
    }
    for (const { name, address, body } of attemptsAt(call, known)) {
      asked += 1
      const answer = await requestRaw(world().url, call.method, address, headers, body)
      if (notMeant.has(answer.status)) failed.push(`${call.key} ${name}: ${address} ${body} ${answer.status}`)
    }
  }
  t.log(`${asked} requests`)
  t.deepEqual(failed, [])
})
