import { randomBytes } from 'node:crypto'
import test from 'ava'
import { type Person, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { runOpsScript, type ScriptRun } from '../helpers/run-ops-script.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const defaults = {
  acceptedTokens: ['SOL', 'USDC', 'USDT', 'BONK'],
  yieldEnabled: false,
  gaslessEnabled: false,
  autoConvertUsdc: false,
  fiatCollection: 'checkout',
  minTipUsd: null,
  hideUnpaidWords: false,
  maxTipUsd: null,
  tipsTo: 'custody',
}

interface ProfileBody {
  readonly creator: {
    readonly name: string
    readonly settings: typeof defaults
    readonly solDomain: string | null
    readonly tokensChosen: boolean
  }
}

function change(session: string, body: unknown) {
  return world().request<ProfileBody>('PATCH', '/creators/me', { session, body })
}
async function changeRefused(session: string, body: unknown) {
  return world().request('PATCH', '/creators/me', { session, body })
}
async function settingsOf(session: string) {
  const answer = await world().request<ProfileBody>('GET', '/creators/me', { session })
  return answer.body.creator.settings
}

test('the profile of a new creator has the default settings and the wallet', async (t) => {
  const { session, user, wallet } = await registerCreator(world())
  const answer = await world().request('GET', '/creators/me', { session })
  t.is(answer.status, 200)
  t.deepEqual(answer.body as unknown, {
    success: true,
    creator: {
      id: user.id,
      name: user.name,
      walletAddress: `${wallet.slice(0, 4)}...${wallet.slice(-4)}`,
      walletPublicKey: wallet,
      solDomain: null,
      twitterHandle: null,
      discordHandle: null,
      settings: defaults,
      tokensChosen: false,
    },
  })
  await change(session, { settings: { hideUnpaidWords: false } })
  const chosen = async () => (await change(session, {})).body.creator.tokensChosen
  t.false(await chosen(), 'other settings are no choice of tokens')
  await change(session, { settings: { autoConvertUsdc: false } })
  t.true(await chosen())
})

test('settings are merged key by key, and a change answers the full profile', async (t) => {
  const { session } = await registerPerson(world())
  t.is((await change(session, { settings: { yieldEnabled: true } })).status, 200)
  await change(session, { settings: { minTipUsd: 1.5, maxTipUsd: 20 } })
  const { body } = await change(session, {
    settings: { acceptedTokens: ['USDC', 'SOL', 'USDC'], fiatCollection: 'bank_transfer' },
  })
  const expected = {
    ...defaults,
    yieldEnabled: true,
    minTipUsd: 1.5,
    maxTipUsd: 20,
    acceptedTokens: ['USDC', 'SOL'],
    fiatCollection: 'bank_transfer',
  }
  t.deepEqual(body.creator.settings, expected)
  t.deepEqual(await settingsOf(session), expected)
})

test('null removes a limit and changes no other setting', async (t) => {
  const { session } = await registerPerson(world())
  await change(session, { settings: { yieldEnabled: true, minTipUsd: 1, maxTipUsd: 2 } })
  await change(session, { settings: { yieldEnabled: null, acceptedTokens: null, minTipUsd: null } })
  t.deepEqual(await settingsOf(session), { ...defaults, yieldEnabled: true, maxTipUsd: 2 })
})

test('unknown settings and fields are not stored', async (t) => {
  const { session, user } = await registerPerson(world())
  const body = {
    settings: { yieldEnabled: true, feeBps: 0, __proto__: { gaslessEnabled: true } },
    twitterHandle: 'jack',
    email: 'x@example.com',
    id: '7',
  }
  t.is(
    (await change(session, JSON.stringify(body).replace('"feeBps"', '"__proto__":{"a":1},"feeBps"'))).status,
    400,
  )
  t.is((await change(session, body)).status, 200)
  const row = await world().db('users').where({ id: user.id }).first()
  t.deepEqual(row.settings, { yieldEnabled: true })
  t.is(row.twitter_handle, null)
  t.is(row.email, user.email)
})

test('concurrent changes of different keys are all stored', async (t) => {
  const { session } = await registerPerson(world())
  const keys = ['yieldEnabled', 'gaslessEnabled', 'autoConvertUsdc'] as const
  await Promise.all(keys.map((key) => change(session, { settings: { [key]: true } })))
  const settings = await settingsOf(session)
  for (const key of keys) t.true(settings[key])
})

for (const settings of [
  7,
  'all',
  [],
  { yieldEnabled: 'yes' },
  { gaslessEnabled: 1 },
  { acceptedTokens: [] },
  { acceptedTokens: ['DOGE'] },
  { acceptedTokens: 'SOL' },
  { acceptedTokens: [['SOL']] },
  { acceptedTokens: Array.from({ length: 1000 }, () => 'SOL') },
  { fiatCollection: 'cash' },
  { minTipUsd: -1 },
  { minTipUsd: '1' },
  { maxTipUsd: 0 },
  { maxTipUsd: 1e9 },
  { minTipUsd: 5, maxTipUsd: 4 },
])
  test(`${JSON.stringify(settings).slice(0, 60)} are invalid settings and change nothing`, async (t) => {
    const { session, user } = await registerPerson(world())
    const answer = await changeRefused(session, { name: 'Another name', settings })
    t.is(answer.status, 400)
    t.is(answer.body.error, 'Invalid settings')
    const row = await world().db('users').where({ id: user.id }).first()
    t.deepEqual([row.name, row.settings], [user.name, {}])
  })

test('a minimum above the stored maximum is refused', async (t) => {
  const { session } = await registerPerson(world())
  await change(session, { settings: { maxTipUsd: 5 } })
  t.is((await changeRefused(session, { settings: { minTipUsd: 6 } })).body.error, 'Invalid settings')
  t.is((await change(session, { settings: { minTipUsd: 6, maxTipUsd: 7 } })).status, 200)
})

test('a name is cleaned and must have 2 to 100 characters', async (t) => {
  const { session } = await registerPerson(world())
  const { body } = await change(session, { name: '  Grace\u202e\u0000 Hopper ' })
  t.is(body.creator.name, 'Grace Hopper')
  for (const name of ['', 'x', ' x ', 'x'.repeat(101), 7, ['Grace']]) {
    const answer = await changeRefused(session, { name })
    t.is(answer.status, 400)
    t.is(answer.body.error, 'Invalid name')
  }
  t.is((await change(session, { name: null })).body.creator.name, 'Grace Hopper')
})

test('a change affects only the own profile', async (t) => {
  const [ada, eve] = await Promise.all([registerPerson(world(), 'Ada'), registerPerson(world(), 'Eve')])
  await change(eve.session, { name: 'Not Ada', settings: { yieldEnabled: true } })
  t.deepEqual(await settingsOf(ada.session), defaults)
})

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const paths = [
  '/creators',
  '/creators/',
  '/creators/me',
  '/Creators/ME',
  '/creators/nothing/here',
  '/creators/api-keys/7',
  '/payouts',
  '/payouts/withdraw',
  '/PAYOUTS/history?limit=1',
]

for (const path of paths)
  test(`${path} without a session answers 401 to every method`, async (t) => {
    const { accessToken } = await registerPerson(world())
    for (const method of methods)
      for (const credential of [{}, { bearer: accessToken }, { session: 'unknown' }]) {
        const answer = await world().request(method, path, credential)
        t.is(answer.status, 401, `${method} ${JSON.stringify(credential)}`)
        t.is(answer.body.error, 'Unauthorized')
        t.is(answer.headers['cache-control'], 'no-store')
      }
  })

test('the credential is checked before the body', async (t) => {
  const answer = await world().request('PATCH', '/creators/me', {
    body: '{"name":',
    headers: { 'content-type': 'application/json' },
  })
  t.is(answer.status, 401)
})

test('pages of other sites cannot change anything with the cookie', async (t) => {
  const { session } = await registerPerson(world())
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as Record<string, string>[]
  const changes = [
    ['PATCH', '/creators/me', { name: 'Mallory' }],
    ['POST', '/creators/api-keys', {}],
    ['DELETE', '/creators/api-keys/7', undefined],
    ['PUT', '/creators/domains', { domains: ['evil.example'] }],
    ['POST', '/creators/domain-challenge', { solDomain: 'ada.sol' }],
    ['POST', '/creators/nothing', {}],
  ] as const
  for (const headers of foreign) {
    for (const [method, path, body] of changes) {
      const answer = await world().request(method, path, { session, body, headers })
      t.is(answer.status, 403, `${method} ${path} ${JSON.stringify(headers)}`)
      t.is(answer.body.error, 'Forbidden')
    }
    t.is((await world().request('GET', '/creators/me', { session, headers })).status, 200)
  }
  const own = await world().request('PATCH', '/creators/me', {
    session,
    body: {},
    headers: { origin: publicUrl },
  })
  t.is(own.status, 200)
})

const linkHandle = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'link-handle', ...args)

function freshHandle(): string {
  return `h${randomBytes(6).toString('hex')}`
}
async function handlesOf({ user }: Person): Promise<(string | null)[]> {
  const row = await world().db('users').where({ id: user.id }).first()
  return [row.twitter_handle, row.discord_handle]
}
function auditOf({ user }: Person) {
  return world()
    .db('audit_log')
    .where({ subject: `user:${user.id}` })
    .orderBy('id')
}

test('without --apply link-handle prints the plan and changes nothing', async (t) => {
  const ada = await registerPerson(world())
  const { code, out } = await linkHandle('--user', ada.email, '--twitter', '@Ada')
  t.is(code, 0)
  t.is(
    out,
    `twitter handle of ${ada.email} (${ada.user.id}): none -> Ada: not done yet; add --apply to do it\n`,
  )
  t.deepEqual(await handlesOf(ada), [null, null])
  t.deepEqual(await auditOf(ada), [])
})

test('--apply links a handle, which is in the profile and in the audit log', async (t) => {
  const ada = await registerPerson(world())
  const [twitter, discord] = [freshHandle(), freshHandle()]
  t.is(
    (await linkHandle('--user', ada.user.id, '--twitter', `@${twitter}`, '--apply', '--as', 'Grace')).code,
    0,
  )
  const json = await linkHandle(
    '--user',
    ` ${ada.email.toUpperCase()}`,
    '--discord',
    discord,
    '--apply',
    '--json',
  )
  t.deepEqual(JSON.parse(json.out), {
    ok: true,
    applied: true,
    userId: ada.user.id,
    email: ada.email,
    network: 'discord',
    before: null,
    after: discord,
  })
  const profile = await world().request<{ creator: Record<string, unknown> }>('GET', '/creators/me', {
    session: ada.session,
  })
  t.like(profile.body.creator, { twitterHandle: twitter, discordHandle: discord })
  const [first, second] = await auditOf(ada)
  t.like(first, {
    actor: 'Grace',
    action: 'link-handle',
    details: { network: 'twitter', before: null, after: twitter },
  })
  t.truthy(second.actor)
})

test('a handle of another account is refused in any case of letters until it is unlinked', async (t) => {
  const [ada, eve] = await Promise.all([registerPerson(world()), registerPerson(world())])
  const handle = freshHandle()
  await linkHandle('--user', ada.email, '--twitter', handle, '--apply')
  for (const apply of [[], ['--apply']]) {
    const { code, err } = await linkHandle('--user', eve.email, '--twitter', handle.toUpperCase(), ...apply)
    t.is(code, 1)
    t.is(
      err,
      `twitter handle ${handle.toUpperCase()} belongs to user ${ada.user.id}; unlink it there first\n`,
    )
  }
  t.is((await linkHandle('--user', ada.email, '--unlink', 'twitter', '--apply')).code, 0)
  t.is((await linkHandle('--user', eve.email, '--twitter', handle, '--apply')).code, 0)
  t.deepEqual(await handlesOf(ada), [null, null])
  t.deepEqual(await handlesOf(eve), [handle, null])
  t.is((await auditOf(ada)).length, 2)
})

const wrongArguments: readonly string[][] = [
  [],
  ['--user', 'a@example.com'],
  ['--twitter', 'ada'],
  ['--user', 'ada', '--twitter', 'ada'],
  ['--user', 'a@example.com', '--twitter', 'ada', '--discord', 'ada'],
  ['--user', 'a@example.com', '--twitter', 'ada', '--unlink', 'twitter'],
  ['--user', 'a@example.com', '--unlink', 'facebook'],
  ['--user', 'a@example.com', '--twitter', 'x'.repeat(16)],
  ['--user', 'a@example.com', '--twitter', 'a b'],
  ['--user', 'a@example.com', '--twitter', '@@ada'],
  ['--user', 'a@example.com', '--discord', 'ada.sol'],
  ['--user', 'a@example.com', '--discord', '11111111111111111111111111111111'],
  ['--user', 'a@example.com', '--handle', 'ada'],
  ['ada'],
]
test('wrong arguments end with exit code 2', async (t) => {
  for (const args of wrongArguments) {
    const { code, out, err } = await linkHandle(...args)
    t.is(code, 2, args.join(' '))
    t.is(out, '')
    t.not(err, '')
  }
})
