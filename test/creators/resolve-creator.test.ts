import { randomBytes } from 'node:crypto'
import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { createIntent } from '../helpers/make/intents.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { setRows, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true })

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
function intentFor(creatorId: string) {
  return { creatorId, amount: 0.1, inputTokenMint: solMint, sourceWalletAddress: unusedWallet() }
}
/** The wallet that a creatorId resolves to, as it is stored on an intent. */
async function payeeOf(creatorId: string): Promise<string> {
  const { intentId } = await createIntent(world().request, intentFor(creatorId))
  const intent = await world().db('payment_intents').where({ id: intentId }).first()
  return intent.payout_wallet
}
async function refusalOf(creatorId: string) {
  const answer = await world().request('POST', '/payments/intent', { body: intentFor(creatorId) })
  return `${answer.status} ${answer.body.error}`
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
