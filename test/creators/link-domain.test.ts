import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { createSnsNames } from '../../src/providers/sns/sns.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createIntent } from '../helpers/make/intents.js'
import {
  assignDomain,
  createHolder,
  freshDomain,
  signText,
  type WalletHolder,
} from '../helpers/make/sol-domains.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { setRows, useWorld, type World } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

const plant = (domain: string, owner: string, { sandbox }: World = world()) =>
  assignDomain(sandbox, domain, owner)
/** Fetches the domain anew, which replaces the answer that a process caches for a minute. */
async function refresh(domain: string): Promise<void> {
  await world().services.names.fetch(domain)
}
function intentFor(creatorId: string) {
  return { creatorId, amount: 0.1, inputTokenMint: solMint, sourceWalletAddress: unusedWallet() }
}
async function payeeOf(creatorId: string): Promise<string> {
  const { intentId } = await createIntent(world().request, intentFor(creatorId))
  return (await world().db('payment_intents').where({ id: intentId }).first()).payout_wallet
}
async function refusalOf(creatorId: string) {
  const answer = await world().request('POST', '/payments/intent', { body: intentFor(creatorId) })
  return `${answer.status} ${answer.body.error}`
}

async function challenge({ session }: TestCreator, solDomain: string): Promise<string> {
  const answer = await world().request<{ message: string }>('POST', '/creators/domain-challenge', {
    session,
    body: { solDomain },
  })
  return answer.body.message
}
async function change({ session }: TestCreator, body: unknown) {
  const answer = await world().request<{ creator?: { solDomain: string | null }; error?: string }>(
    'PATCH',
    '/creators/me',
    { session, body },
  )
  return answer.body.creator === undefined ? answer.body.error : answer.body.creator.solDomain
}
async function linkSigned(creator: TestCreator, solDomain: string, holder: WalletHolder) {
  return change(creator, { solDomain, signature: signText(holder, await challenge(creator, solDomain)) })
}
const notYours = 'Domain does not resolve to your wallet'

test('an unlinked domain resolves to its owner, and its case is ignored', async (t) => {
  const [domain, owner] = [freshDomain(), unusedWallet()]
  await plant(domain, owner)
  t.is(await payeeOf(domain), owner)
  t.is(await payeeOf(` ${domain.toUpperCase()} `), owner)
})

test('a subdomain has its own owner', async (t) => {
  const [domain, owner] = [freshDomain(), unusedWallet()]
  await plant(domain, unusedWallet())
  await plant(`pay.${domain}`, owner)
  t.is(await payeeOf(`pay.${domain}`), owner)
  t.is(await refusalOf(`other.${domain}`), '404 Creator not found')
})

test('the owner’s signature links a domain, which then resolves to the creator’s wallet', async (t) => {
  const [creator, holder, domain] = [await registerCreator(world()), createHolder(), freshDomain()]
  await plant(domain, holder.address)
  t.is(await linkSigned(creator, domain.toUpperCase(), holder), domain)
  t.is(await payeeOf(domain), creator.wallet)

  t.is(await change(creator, { solDomain: null }), null)
  t.is(await payeeOf(domain), holder.address)
})

test('a domain that resolves to the creator’s wallet links without a signature', async (t) => {
  const [creator, domain] = [await registerCreator(world()), freshDomain()]
  t.is(await change(creator, { solDomain: domain }), notYours)
  await plant(domain, creator.wallet)
  t.is(
    await change(creator, { solDomain: domain }),
    domain,
    'the chain is read again, although the last answer is cached',
  )
  t.is(await payeeOf(domain), creator.wallet)
})

test('no other signature links a domain', async (t) => {
  const [creator, eve] = [await registerCreator(world()), await registerCreator(world())]
  const [holder, other, domain, second] = [createHolder(), createHolder(), freshDomain(), freshDomain()]
  await plant(domain, holder.address)
  await plant(second, holder.address)
  const message = await challenge(creator, domain)
  const good = signText(holder, message)
  const forged = [
    undefined,
    '',
    'x',
    good.slice(0, -1),
    signText(other, message),
    signText(holder, `${message} `),
    signText(holder, await challenge(eve, domain)),
    '1'.repeat(64),
  ]
  for (const attempt of forged)
    t.is(await change(creator, { solDomain: domain, signature: attempt }), notYours)
  t.is(
    await change(creator, { solDomain: second, signature: good }),
    notYours,
    'the signature is for another domain',
  )
  t.is(
    await change(eve, { solDomain: domain, signature: good }),
    notYours,
    'the signature is for another account',
  )
  t.is(await change(creator, { solDomain: domain, signature: good }), domain)
  await change(creator, { solDomain: null })
  t.is(await change(creator, { solDomain: domain, signature: good }), notYours, 'the challenge is used')
})

test('an expired or replaced challenge does not link a domain', async (t) => {
  const [creator, holder, domain] = [await registerCreator(world()), createHolder(), freshDomain()]
  await plant(domain, holder.address)
  const first = signText(holder, await challenge(creator, domain))
  const second = signText(holder, await challenge(creator, domain))
  t.is(await change(creator, { solDomain: domain, signature: first }), notYours)
  await world()
    .db('one_time_secrets')
    .where({ user_id: creator.user.id, purpose: 'sol_domain' })
    .update({ expires_at: new Date() })
  t.is(await change(creator, { solDomain: domain, signature: second }), notYours)
})

test('when a domain changes its owner, it resolves to the new owner, who can link it', async (t) => {
  const [creator, holder, buyer, domain] = [
    await registerCreator(world()),
    createHolder(),
    createHolder(),
    freshDomain(),
  ]
  await plant(domain, holder.address)
  await linkSigned(creator, domain, holder)
  t.is(await payeeOf(domain), creator.wallet)

  await plant(domain, buyer.address)
  t.is(await payeeOf(domain), creator.wallet, 'the old answer is cached for a minute')
  await refresh(domain)
  t.is(await payeeOf(domain), buyer.address)

  const newCreator = await registerCreator(world())
  t.is(await linkSigned(newCreator, domain, buyer), domain)
  t.is(await payeeOf(domain), newCreator.wallet)
  const former = await world().db('users').where({ id: creator.user.id }).first()
  t.is(former.sol_domain, null)
})

test('when two accounts link one domain concurrently, one of them has it', async (t) => {
  const [ada, eve, holder, domain] = [
    await registerCreator(world()),
    await registerCreator(world()),
    createHolder(),
    freshDomain(),
  ]
  await plant(domain, holder.address)
  await Promise.all([linkSigned(ada, domain, holder), linkSigned(eve, domain, holder)])
  const linked = await world().db('users').where({ sol_domain: domain })
  t.is(linked.length, 1)
})

for (const solDomain of [
  '',
  'ada',
  'ada.eth',
  '.sol',
  'a.b.c.sol',
  'x y.sol',
  'a/b.sol',
  `${'x'.repeat(64)}.sol`,
  7,
  ['a.sol'],
  {},
])
  test(`${JSON.stringify(solDomain).slice(0, 30)} is an invalid domain`, async (t) => {
    const creator = await registerCreator(world())
    t.is(await change(creator, { solDomain }), 'Invalid domain')
    const answer = await world().request('POST', '/creators/domain-challenge', {
      session: creator.session,
      body: { solDomain },
    })
    t.is(`${answer.status} ${answer.body.error}`, '400 Invalid domain')
  })

// Serial, because it counts the requests to the chain.
test.serial('GET /chain/tips resolves a domain by itself, with one request in ten minutes', async (t) => {
  const [creator, holder, domain, unlinked] = [
    await registerCreator(world()),
    createHolder(),
    freshDomain(),
    freshDomain(),
  ]
  await plant(domain, holder.address)
  await plant(unlinked, creator.wallet)
  await linkSigned(creator, domain, holder)
  await createConfirmedTips(world(), [someConfirmation(creator.wallet)])
  const listed = async (address: string) =>
    (await world().request<{ tips: unknown[] }>('GET', `/chain/tips?address=${address}`)).body.tips.length
  const before = world().sandbox.calls.httpRequests
  t.is(await listed(domain.toUpperCase()), 1, 'linking has read it')
  t.is(world().sandbox.calls.httpRequests, before)
  t.is(await listed(unlinked), 1)
  t.is(await listed(unlinked), 1)
  t.is(world().sandbox.calls.httpRequests, before + 1)
  const nobody = freshDomain()
  t.is(await listed(nobody), 0)
  t.is(await listed(nobody), 0)
  t.is(world().sandbox.calls.httpRequests, before + 2)
})

test('concurrent and later lookups of a domain share one request', async (t) => {
  const domain = freshDomain()
  await plant(domain, unusedWallet())
  let requests = 0
  const names = createSnsNames({
    urls: [world().sandbox.url],
    genesisHash: undefined,
    onCall: () => {
      requests += 1
    },
    onFailure: (host) => t.fail(host),
  })
  const answers = await Promise.all(Array.from({ length: 100 }, () => names.fetchOrCached(domain)))
  t.is(new Set(answers).size, 1)
  await names.fetchOrCached(domain)
  t.is(requests, 1)
  t.is(await names.fetchOrCached(freshDomain()), undefined)
  t.is(requests, 2)
})

test('a failed lookup throws a ProviderError and is not cached', async (t) => {
  const failed: string[] = []
  const down = createSnsNames({
    urls: ['http://127.0.0.1:1'],
    genesisHash: undefined,
    onCall: () => undefined,
    onFailure: (host) => failed.push(host),
  })
  const domain = freshDomain()
  await t.throwsAsync(() => down.fetchOrCached(domain), { name: 'ProviderError' })
  t.is(await down.fetchOrKnown(domain), undefined, 'a list does not fail')
  t.deepEqual(failed, ['127.0.0.1:1', '127.0.0.1:1'])
})

test('a list waits two seconds for a domain, then takes what is known, and does not hold up payments', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  let calls = 0
  const names = createSnsNames({
    urls: [`http://127.0.0.1:${port}`],
    genesisHash: undefined,
    onCall: () => {
      calls += 1
    },
    onFailure: () => undefined,
  })
  const startedAt = performance.now()
  const lists = Array.from({ length: 100 }, () => names.fetchOrKnown(freshDomain()))
  const payment = names.fetch(freshDomain())
  await until('the payment is sent', () => calls > 0)
  t.deepEqual(new Set(await Promise.all(lists)), new Set([undefined]))
  t.true(performance.now() - startedAt >= 1990)
  t.true(calls <= 5 + 4, `${calls} calls: four at a time for lists, and one for the payment`)
  silent.close()
  silent.closeAllConnections()
  await t.throwsAsync(payment, { name: 'ProviderError' })
})

function freshHandle(): string {
  return `h${randomBytes(6).toString('hex')}`
}
async function setHandles(
  { user }: TestCreator,
  twitter: string | null,
  discord: string | null,
): Promise<void> {
  await setRows(world(), 'users', { id: user.id }, { twitter_handle: twitter, discord_handle: discord })
}

test('@name is a Twitter handle, and a handle of two creators is not found', async (t) => {
  const [ada, eve] = await Promise.all([registerCreator(world()), registerCreator(world())])
  const handle = freshHandle()
  await setHandles(ada, handle, null)
  await setHandles(eve, null, handle.toUpperCase())
  t.is(await payeeOf(`@${handle}`), ada.wallet)
  t.is(await refusalOf(handle), '404 Creator not found')

  await setHandles(eve, null, null)
  t.is(await payeeOf(handle), ada.wallet)
  await setHandles(ada, handle, handle)
  t.is(await payeeOf(handle), ada.wallet, 'both handles are of one creator')
  await setHandles(ada, null, handle)
  t.is(await refusalOf(`@${handle}`), '404 Creator not found')
})

test('an unknown or malformed creatorId is not found', async (t) => {
  const none = unusedWallet()
  for (const form of [
    '00000000-0000-4000-8000-000000000000',
    'auth_00000000-0000-4000-8000-000000000000',
    freshHandle(),
    `@${freshHandle()}`,
    '@',
    '@@jack',
    'two words',
    'ja%',
    '_______________',
    none.repeat(2),
    `x\u0000`,
    '.sol',
    'x..sol',
    'a.b.c.sol',
    'x y.sol',
    `${'x'.repeat(300)}.sol`,
    'x'.repeat(10_000),
    `${freshHandle()}.sol`,
  ])
    t.is(await refusalOf(form), '404 Creator not found', form.slice(0, 50))
})
