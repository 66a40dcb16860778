import { gzipSync } from 'node:zlib'
import test from 'ava'
import { generalDetails, hasDetails } from '../../src/http/errors/error-details.js'
import { type ErrorCode, errors } from '../../src/kernel/errors.js'
import { solMint } from '../../src/kernel/tokens.js'
import { exampleOf, noteOf } from '../../src/manual/fields.js'
import { type Call, callsOf, type OpenApi } from '../../src/manual/read-openapi.js'
import { readDocument } from '../helpers/http/openapi-document.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { freshEmail, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createSession, registerEmbedder, site } from '../helpers/make/sdk.js'
import { unusedSignature, unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const json = { 'content-type': 'application/json' }
const post = (path: string, body: unknown, session?: string) =>
  world().request('POST', path, { body, ...(session === undefined ? {} : { session }) })

test('14.7 every 400 and 422 has a description of its own', (t) => {
  const codes = (Object.keys(errors) as ErrorCode[]).filter(hasDetails)
  t.deepEqual(
    codes.filter((code) => generalDetails(code).problem === errors[code][1]),
    [],
  )
})

test('14.7 an unreadable body is named, beside the exact text', async (t) => {
  const cases: [string, string | Uint8Array, Record<string, string>][] = [
    ['is not a valid JSON object, or has a field __proto__', '{"email":', json],
    ['must be a JSON object', '[]', json],
    ['must have at most 64 KB', `{"a":"${'x'.repeat(70_000)}"}`, json],
    ['must have at most 20 levels', `${'{"a":'.repeat(21)}1${'}'.repeat(21)}`, json],
    ['must have the Content-Type application/json', 'email=a', { 'content-type': 'text/plain' }],
    [
      'must have a Content-Encoding of gzip, deflate or br, or none',
      '{}',
      { ...json, 'content-encoding': 'zip' },
    ],
    ['cannot be decompressed', '{}', { ...json, 'content-encoding': 'gzip' }],
    [
      'must have at most 64 KB',
      gzipSync(`{"a":"${'x'.repeat(70_000)}"}`),
      { ...json, 'content-encoding': 'gzip' },
    ],
    ['must be UTF-8', '{}', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['must be UTF-8', Buffer.from('{"email":"\xe9"}', 'latin1'), json],
    ['is not a valid JSON object, or has a field __proto__', '{"a":{"__proto__":1}}', json],
    ['has half of a surrogate pair', '{"\\ud83d":1}', json],
  ]
  for (const [problem, body, headers] of cases) {
    const answer = await world().request('POST', '/auth/login', { body, headers })
    t.is(answer.status, 400, problem)
    t.is(answer.body.error, 'Invalid payload')
    t.deepEqual(answer.body.details, [{ field: 'body', problem }])
  }
  const compressed = gzipSync(JSON.stringify({ email: freshEmail(), password: 'x' }))
  const read = { body: compressed, headers: { ...json, 'content-encoding': 'gzip' } }
  t.is((await world().request('POST', '/auth/login', read)).status, 401)
})

test('14.7 the fields that are wrong are named, limits with their values', async (t) => {
  const { session, wallet } = await registerCreator(world())
  const register = { email: freshEmail(), password: 'long enough', name: 'Ada' }
  const intent = { creatorId: wallet, inputTokenMint: solMint, sourceWalletAddress: unusedWallet() }
  const cases: [path: string, body: object, details: Record<string, string>][] = [
    ['/auth/register', { ...register, name: 'A' }, { name: 'must have 2 to 100 characters' }],
    ['/auth/register', { ...register, password: 'short' }, { password: 'must have 8 to 256 characters' }],
    [
      '/auth/register',
      { ...register, email: 'ada' },
      { email: 'must be one e-mail address of at most 254 characters' },
    ],
    ['/auth/register', {}, { email: 'is missing', password: 'is missing', name: 'is missing' }],
    ['/auth/login', { email: 'a@example.com' }, { password: 'is missing' }],
    ['/auth/otp/start', { email: '\u200b' }, { email: 'is missing' }],
    [
      '/auth/otp/verify',
      { email: freshEmail(), code: '12' },
      { code: 'is wrong, used, replaced by a newer one or older than 10 minutes' },
    ],
    ['/payments/intent', intent, { amount: 'is missing' }],
    [
      '/payments/intent',
      { ...intent, amount: -1 },
      { amount: 'must be a finite positive number that the token can hold' },
    ],
    [
      '/payments/intent',
      { ...intent, amountUsd: 10_001 },
      { amountUsd: 'must be worth from 0.01 to 10000 USD' },
    ],
    [
      '/payments/intent',
      { ...intent, amount: 1, inputTokenMint: 'x' },
      { inputTokenMint: 'must be the mint of a known token' },
    ],
    [
      '/auth/register',
      { ...register, password: 'x'.repeat(257) },
      { password: 'must have 8 to 256 characters' },
    ],
    ...(['message', 'tokenSymbol', 'intentId'] as const).map(
      (field): [string, object, Record<string, string>] => [
        '/chain/tips/create',
        {
          creatorWallet: wallet,
          tipAmount: 1,
          senderWallet: wallet,
          txSignature: unusedSignature(),
          [field]: 5,
        },
        { [field]: 'must be a text' },
      ],
    ),
    ['/chain/tips/create', { message: ['x', { a: '\ud83d' }] }, { message: 'has half of a surrogate pair' }],
    [
      '/chain/tips/create',
      { creatorWallet: wallet },
      { tipAmount: 'is missing', senderWallet: 'is missing', txSignature: 'is missing' },
    ],
    [
      '/payments/fiat/intent',
      { creatorId: wallet, amount: 20_000 },
      { amount: 'must be above 0 and at most 10000 USD' },
    ],
    [
      '/payments/fiat/intent',
      { creatorId: wallet, amount: 5, amountNgn: 1 },
      { amountNgn: 'must charge from 100 to 10000000 NGN' },
    ],
    ['/payments/fiat/intent', { creatorId: wallet, amount: '5' }, { amount: 'must be a finite number' }],
    [
      '/payouts/withdraw',
      { bankCode: '1' },
      {
        bankCode: 'must be three digits, or a code of up to six digits that the list of banks has',
        accountNumber: 'is missing',
        accountName: 'is missing',
        amountUSDC: 'give amountUSDC or amountNGN, one of the two, as a finite positive number',
      },
    ],
    [
      '/payouts/withdraw',
      { amountUSDC: 5, bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' },
      {
        amountUSDC: 'is above the available balance of 0 USDC',
      },
    ],
  ]
  for (const [path, body, details] of cases) {
    const answer = await post(path, body, path.startsWith('/payouts') ? session : undefined)
    t.is(answer.status, 400, `${path} ${JSON.stringify(body)}`)
    t.deepEqual(
      Object.fromEntries(answer.body.details.map(({ field, problem }) => [field, problem])),
      details,
    )
  }
})

test('14.7 the fields of a query are named, also bytes that are not UTF-8', async (t) => {
  const { session = '' } = await registerPerson(world())
  for (const [path, field, problem] of [
    ['/chain/tips', 'address', 'is missing'],
    ['/chain/tips?address=%C3%28', 'address', 'must be UTF-8'],
    ['/chain/tips/stream?wallet=x', 'wallet', 'must be a wallet address: base58 of 32 bytes'],
    ['/payments/fiat/rate?amount=x', 'amount', 'must be a finite positive number'],
    ['/payouts/history?limit=101', 'limit', 'must be a whole number from 1 to 100'],
  ] as const) {
    const answer = await world().request('GET', path, { session })
    t.is(answer.status, 400, path)
    t.deepEqual(answer.body.details, [{ field, problem }])
  }
})

test('14.7 e-mail addresses in common use pass, and a malformed one has one answer per endpoint', async (t) => {
  const id = freshEmail().split('@')[0]
  const email = `${id}+&!#=/%~@bücher.example`
  const body = { email, password: 'long enough', name: 'Ada' }
  const registered = await world().request<{ user: { email: string } }>('POST', '/auth/register', { body })
  t.is(registered.status, 200)
  t.is(registered.body.user.email, `${id}+&!#=/%~@xn--bcher-kva.example`)
  t.is((await post('/auth/login', body)).status, 200)
  t.is((await post('/auth/login', { ...body, email: registered.body.user.email })).status, 200)
  t.is((await post('/auth/otp/start', body)).status, 200)
  for (const malformed of ['ada', 'ada@localhost', 'a b@example.com', `${'a'.repeat(300)}@example.com`]) {
    const answers = [
      await post('/auth/register', { ...body, email: malformed }),
      await post('/auth/login', { ...body, email: malformed }),
      await post('/auth/otp/start', { email: malformed }),
      await post('/auth/otp/verify', { email: malformed, code: '123456' }),
    ]
    t.deepEqual(
      answers.map(({ status, body: { error } }) => `${status} ${error}`),
      [
        '400 Invalid payload: Name must be 2-100 characters and password min 8 characters.',
        '401 Invalid credentials',
        '400 Email required',
        '400 Invalid or expired code',
      ],
    )
  }
})

test('14.8 texts are normalised in every field, and a cut message is told', async (t) => {
  const name = '  A\u200bda\u00a0\u202eO\nbi '
  const body = { email: freshEmail(), password: 'long enough', name }
  const { body: entered } = await world().request<{ user: { name: string } }>('POST', '/auth/register', {
    body,
  })
  t.is(entered.user.name, 'Ada O bi')
  t.is(
    (await post('/auth/register', { ...body, email: freshEmail(), name: '\u3164\u3164\u200b' })).status,
    400,
  )
  const record = async (message: string) => {
    const { body: recorded } = await world().request<{ truncated?: true }>('POST', '/chain/tips/create', {
      body: {
        creatorWallet: unusedWallet(),
        tipAmount: 5,
        senderWallet: unusedWallet(),
        txSignature: unusedSignature(),
        message,
      },
    })
    return recorded
  }
  t.is((await record('😀'.repeat(501))).truncated, true)
  t.false('truncated' in (await record(`${'😀'.repeat(500)} \u200b`)))
})

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
