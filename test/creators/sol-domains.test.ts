import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { createSnsNames } from '../../src/providers/sns/sns.js'
import { confirmAll, someConfirmation } from '../helpers/make/confirmations.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { issueIntent } from '../helpers/make/intents.js'
import { freshDomain, type Holder, newHolder, plantDomain, signedBy } from '../helpers/make/sol-domains.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { useWorld, type World } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true })

const plant = (domain: string, owner: string, { sandbox }: World = world()) =>
  plantDomain(sandbox, domain, owner)
/** A domain's answers stand for a minute in one process: others are new to it. */
async function forget(domain: string): Promise<void> {
  await world().services.names.read(domain)
}
function intentFor(creatorId: string) {
  return { creatorId, amount: 0.1, inputTokenMint: solMint, sourceWalletAddress: strangerWallet() }
}
async function payeeOf(creatorId: string): Promise<string> {
  const { intentId } = await issueIntent(world().request, intentFor(creatorId))
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
async function linkSigned(creator: TestCreator, solDomain: string, holder: Holder) {
  return change(creator, { solDomain, signature: signedBy(holder, await challenge(creator, solDomain)) })
}
const notYours = 'Domain does not resolve to your wallet'

test('an unlinked domain pays its owner, in any case of letters', async (t) => {
  const [domain, owner] = [freshDomain(), strangerWallet()]
  await plant(domain, owner)
  t.is(await payeeOf(domain), owner)
  t.is(await payeeOf(` ${domain.toUpperCase()} `), owner)
})

test('a domain below a domain is its own', async (t) => {
  const [domain, owner] = [freshDomain(), strangerWallet()]
  await plant(domain, strangerWallet())
  await plant(`pay.${domain}`, owner)
  t.is(await payeeOf(`pay.${domain}`), owner)
  t.is(await refusalOf(`other.${domain}`), '404 Creator not found')
})

test('the owner’s signature links a domain, which then pays the creator’s own wallet', async (t) => {
  const [creator, holder, domain] = [await registerCreator(world()), newHolder(), freshDomain()]
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
  t.is(await change(creator, { solDomain: domain }), domain, 'asked anew, though unknown a moment ago')
  t.is(await payeeOf(domain), creator.wallet)
})

test('no other signature links', async (t) => {
  const [creator, eve] = [await registerCreator(world()), await registerCreator(world())]
  const [holder, other, domain, second] = [newHolder(), newHolder(), freshDomain(), freshDomain()]
  await plant(domain, holder.address)
  await plant(second, holder.address)
  const message = await challenge(creator, domain)
  const good = signedBy(holder, message)
  const forged = [
    undefined,
    '',
    'x',
    good.slice(0, -1),
    signedBy(other, message),
    signedBy(holder, `${message} `),
    signedBy(holder, await challenge(eve, domain)),
    '1'.repeat(64),
  ]
  for (const attempt of forged)
    t.is(await change(creator, { solDomain: domain, signature: attempt }), notYours)
  t.is(await change(creator, { solDomain: second, signature: good }), notYours, 'it was for the other domain')
  t.is(await change(eve, { solDomain: domain, signature: good }), notYours, 'it was for the other account')
  t.is(await change(creator, { solDomain: domain, signature: good }), domain)
  await change(creator, { solDomain: null })
  t.is(await change(creator, { solDomain: domain, signature: good }), notYours, 'it is spent')
})

test('a challenge that is too old or was replaced is worth nothing', async (t) => {
  const [creator, holder, domain] = [await registerCreator(world()), newHolder(), freshDomain()]
  await plant(domain, holder.address)
  const first = signedBy(holder, await challenge(creator, domain))
  const second = signedBy(holder, await challenge(creator, domain))
  t.is(await change(creator, { solDomain: domain, signature: first }), notYours)
  await world().db('domain_challenges').where({ user_id: creator.user.id }).update({ expires_at: new Date() })
  t.is(await change(creator, { solDomain: domain, signature: second }), notYours)
})

test('when the owner changes the link is lost and the domain pays the new owner', async (t) => {
  const [creator, holder, buyer, domain] = [
    await registerCreator(world()),
    newHolder(),
    newHolder(),
    freshDomain(),
  ]
  await plant(domain, holder.address)
  await linkSigned(creator, domain, holder)
  t.is(await payeeOf(domain), creator.wallet)

  await plant(domain, buyer.address)
  t.is(await payeeOf(domain), creator.wallet, 'an answer stands for a minute')
  await forget(domain)
  t.is(await payeeOf(domain), buyer.address)

  const heir = await registerCreator(world())
  t.is(await linkSigned(heir, domain, buyer), domain)
  t.is(await payeeOf(domain), heir.wallet)
  const former = await world().db('users').where({ id: creator.user.id }).first()
  t.is(former.sol_domain, null)
})

test('of two accounts that link one domain at the same moment one has it', async (t) => {
  const [ada, eve, holder, domain] = [
    await registerCreator(world()),
    await registerCreator(world()),
    newHolder(),
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
  test(`${JSON.stringify(solDomain).slice(0, 30)} cannot be linked`, async (t) => {
    const creator = await registerCreator(world())
    t.is(await change(creator, { solDomain }), 'Invalid domain')
    const answer = await world().request('POST', '/creators/domain-challenge', {
      session: creator.session,
      body: { solDomain },
    })
    t.is(`${answer.status} ${answer.body.error}`, '400 Invalid domain')
  })

// Alone: it counts what the chain is asked.
test.serial(
  'the list takes a linked domain, and another once an intent has looked it up; it never asks the chain',
  async (t) => {
    const [creator, holder, domain, unlinked] = [
      await registerCreator(world()),
      newHolder(),
      freshDomain(),
      freshDomain(),
    ]
    await plant(domain, holder.address)
    await plant(unlinked, creator.wallet)
    await linkSigned(creator, domain, holder)
    await confirmAll(world(), [someConfirmation(creator.wallet)])
    const listed = async (address: string) =>
      (await world().request<{ tips: unknown[] }>('GET', `/chain/tips?address=${address}`)).body.tips.length
    const before = world().sandbox.calls.httpRequests
    t.is(await listed(domain.toUpperCase()), 1)
    t.is(await listed(unlinked), 0)
    t.is(await listed(freshDomain()), 0)
    t.is(world().sandbox.calls.httpRequests, before)
    await payeeOf(unlinked)
    t.is(await listed(unlinked), 1)
  },
)

test('all who ask for a domain at the same moment share one question, and so do those a moment later', async (t) => {
  const domain = freshDomain()
  await plant(domain, strangerWallet())
  let asked = 0
  const names = createSnsNames({
    urls: [world().sandbox.url],
    genesisHash: undefined,
    onCall: () => {
      asked += 1
    },
    onFailure: (host) => t.fail(host),
  })
  const answers = await Promise.all(Array.from({ length: 100 }, () => names.lookup(domain)))
  t.is(new Set(answers).size, 1)
  await names.lookup(domain)
  t.is(asked, 1)
  t.is(await names.lookup(freshDomain()), undefined)
  t.is(asked, 2)
})

test('a failed question is not remembered, and the intent says to come again', async (t) => {
  const failed: string[] = []
  const down = createSnsNames({
    urls: ['http://127.0.0.1:1'],
    genesisHash: undefined,
    onCall: () => undefined,
    onFailure: (host) => failed.push(host),
  })
  const domain = freshDomain()
  await t.throwsAsync(() => down.lookup(domain), { name: 'ProviderError' })
  t.is(down.known(domain), undefined)
  t.deepEqual(failed, ['127.0.0.1:1'])
})
