import { randomBytes } from 'node:crypto'
import { freshWallet, usdc } from './support/chain.js'
import { checkWithStandIns, once } from './support/check.js'
import { registerCreator } from './support/people.js'
import { at, call, control, type Json } from './support/server.js'

// `.sol` domains wherever the contract takes one.

/** A creator who owns a domain on the chain, linked to the account. */
const owner = once(async () => {
  const creator = await registerCreator()
  const domain = `contract${randomBytes(6).toString('hex')}.sol`
  await control('/dev/domains', { domain, owner: creator.wallet })
  const body = { solDomain: domain }
  const { status, text } = await call('PATCH', '/creators/me', { cookie: creator.cookie, body })
  if (status !== 200) throw new Error(`the domain was not linked: ${text}`)
  return { ...creator, domain }
})

checkWithStandIns('a linked domain is on the profile', async (t) => {
  const { cookie, domain } = await owner()
  t.is(at((await call('GET', '/auth/me', { cookie })).body, 'user', 'solDomain'), domain)
})
checkWithStandIns('an intent finds its creator by domain', async (t) => {
  const { domain } = await owner()
  const body = {
    creatorId: domain,
    amount: 5,
    inputTokenMint: usdc,
    sourceWalletAddress: freshWallet(),
  }
  t.is((await call('POST', '/payments/intent', { body })).status, 200)
})
checkWithStandIns('init finds its creator by domain', async (t) => {
  const { domain, cookie, id } = await owner()
  const key = await call('POST', '/creators/api-keys', { cookie, body: { label: 'domain' } })
  const body = { creatorId: domain, originUrl: 'http://localhost' }
  const answer = await call('POST', '/sdk/init', { body, bearer: String(key.body['apiKey']) })
  t.is(at(answer.body, 'config', 'creatorId'), id)
})
checkWithStandIns('a naira intent finds its creator by domain, whose list then has it', async (t) => {
  const { domain, id, wallet } = await owner()
  const { body } = await call('POST', '/payments/fiat/intent', { body: { creatorId: domain, amount: 7 } })
  const list = await call('GET', `/chain/tips?address=${domain}`)
  const tip = (list.body['tips'] as Json[]).find(({ signature }) => signature === body['intentId'])
  t.like(tip, { recipient: wallet, recipient_id: id, amount: 7, status: 'pending' })
})
checkWithStandIns('a domain nobody has is not found', async (t) => {
  const body = { creatorId: `nobody${randomBytes(6).toString('hex')}.sol`, amount: 7 }
  t.is((await call('POST', '/payments/fiat/intent', { body })).status, 404)
})
