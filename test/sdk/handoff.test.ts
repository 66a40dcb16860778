import { VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { solMint, tokenBySymbol } from '../../src/kernel/tokens.js'
import { badBodies } from '../helpers/http/hostile-input.js'
import { ageSession, createSession, registerEmbedder, sdkTipBody } from '../helpers/make/sdk.js'
import { createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
const usdcMint = tokenBySymbol('USDC')?.mint ?? ''

interface HandoffBody {
  readonly code: string
  readonly expiresAt: string
  readonly error: string
}
interface RedeemBody {
  readonly sessionToken: string
  readonly expiresAt: string
  readonly error: string
}

async function startSession() {
  const embedder = await registerEmbedder(world())
  return { embedder, token: (await createSession(world(), embedder)).sessionToken }
}
const handoff = (bearer: string, body: unknown = {}) =>
  world().request<HandoffBody>('POST', '/sdk/handoff', { bearer, body })
const redeem = (code: unknown) =>
  world().request<RedeemBody>('POST', '/sdk/handoff/redeem', { body: { code } })
const payWith = (code: string, account: unknown) =>
  world().request<{ transaction: string; message: string; error: string }>('POST', `/pay/${code}`, {
    body: { account },
  })

async function expireCodes(token: string): Promise<void> {
  await world().db.raw(
    `update one_time_secrets set expires_at = clock_timestamp() where subject =
       (select id::text from sdk_sessions where token_hash = sha256(convert_to(?, 'utf8')))`,
    [token],
  )
}

test('a code gives the session token once, within a minute', async (t) => {
  const { embedder, token } = await startSession()
  const { body } = await handoff(token)
  const seconds = (new Date(body.expiresAt).getTime() - Date.now()) / 1000
  t.true(seconds > 30 && seconds <= 60.5, String(seconds))
  const redeemed = await redeem(body.code)
  t.is(redeemed.status, 200)
  t.is(redeemed.headers['cache-control'], 'no-store')
  t.is(redeemed.body.sessionToken, token)
  t.is(
    (
      await world().request('POST', '/sdk/tip', {
        bearer: redeemed.body.sessionToken,
        body: sdkTipBody(embedder),
      })
    ).status,
    200,
  )
  const again = await redeem(body.code)
  t.is(again.status, 400)
  t.is(again.body.error, 'Invalid or expired code')
})

test('of fifty concurrent redemptions of a code one succeeds', async (t) => {
  const { token } = await startSession()
  const { code } = (await handoff(token)).body
  const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(code)))
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 49 }, () => 400)])
})

test('an expired, unknown or missing code is refused', async (t) => {
  const { token } = await startSession()
  const { code } = (await handoff(token)).body
  await expireCodes(token)
  for (const wrong of [code, 'x', 'x'.repeat(43), token])
    t.is((await redeem(wrong)).body.error, 'Invalid or expired code')
  for (const none of [undefined, null, '', 7, {}]) {
    const answer = await redeem(none)
    t.is(answer.status, 400)
    t.is(answer.body.error, 'code is required')
  }
  for (const [what, options] of Object.entries(badBodies)) {
    const answer = await world().request('POST', '/sdk/handoff/redeem', options)
    t.is(answer.body.error, 'code is required')
    // A body with an unknown charset is read as an empty object, which is a valid handoff request.
    if (what === 'an unknown charset') continue
    const headers = { authorization: `Bearer ${token}`, ...options.headers }
    const malformed = await world().request('POST', '/sdk/handoff', { ...options, headers })
    t.is(malformed.body.error, 'Invalid JSON', what)
  }
})

test('a code expires with its session', async (t) => {
  const { token } = await startSession()
  await ageSession(world(), token, 14.8)
  const { expiresAt } = (await handoff(token)).body
  t.true(new Date(expiresAt).getTime() - Date.now() < 12_500)
})

test('a wallet reads a payment link and gets the transaction of its tip', async (t) => {
  const { embedder, token } = await startSession()
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const { code } = (await handoff(token, { amount: 5, inputTokenMint: usdcMint })).body
  const read = await world().request<{ label: string; icon: string }>('GET', `/pay/${code}`)
  t.deepEqual(read.body as unknown, {
    success: true,
    label: 'Ada Lovelace',
    icon: `${publicUrl}/pay-icon.svg`,
  })
  t.is(read.headers['access-control-allow-origin'], '*')
  const answer = await payWith(code, supporter.wallet)
  t.is(answer.status, 200)
  t.is(answer.body.message, 'Tip Ada Lovelace $5')
  const { message } = VersionedTransaction.deserialize(Buffer.from(answer.body.transaction, 'base64'))
  t.is(message.staticAccountKeys[0]?.toBase58(), supporter.wallet)
  t.notThrows(() => supporter.pay(answer.body.transaction))
  const stored = await world().db('payment_intents').where({ source_wallet: supporter.wallet }).first()
  t.like(stored, { input_mint: usdcMint, input_raw: '5000000', payout_wallet: embedder.wallet })
  t.truthy(stored.sdk_session_id)
})

test('a payment link works for its tip only, and only while the session may create an intent', async (t) => {
  const { token } = await startSession()
  const { code } = (await handoff(token, { amount: 5, inputTokenMint: solMint })).body
  t.is((await redeem(code)).status, 400)
  const plain = (await handoff(token)).body.code
  t.is((await world().request('GET', `/pay/${plain}`)).status, 404)
  t.is((await payWith(plain, unusedWallet())).status, 404)
  t.is((await redeem(plain)).status, 200)
  const paid = await Promise.all(Array.from({ length: 20 }, () => payWith(code, unusedWallet())))
  t.is(paid.filter(({ status }) => status === 200).length, 5)
  t.true(
    paid.every(({ status, body }) => status === 200 || body.error === 'Missing or invalid session token'),
  )
  await expireCodes(token)
  t.is((await world().request('GET', `/pay/${code}`)).body.error, 'Not found')
  t.is((await payWith(code, unusedWallet())).status, 404)
})

test('a payment link needs both amount and token, and its payment needs an account', async (t) => {
  const { token } = await startSession()
  const table: [body: unknown, error: string][] = [
    [{ amount: 5 }, 'Invalid inputTokenMint'],
    [{ inputTokenMint: solMint }, 'Invalid amount'],
    [{ amount: '5', inputTokenMint: solMint }, 'Invalid amount'],
    [{ amount: -5, inputTokenMint: solMint }, 'Invalid amount'],
    [{ amount: 5, inputTokenMint: unusedWallet() }, 'Invalid inputTokenMint'],
  ]
  for (const [body, error] of table) {
    const answer = await handoff(token, body)
    t.is(answer.status, 400)
    t.is(answer.body.error, error)
  }
  const { code } = (await handoff(token, { amount: 5, inputTokenMint: solMint })).body
  for (const account of [undefined, '', 'x', 7])
    t.is((await payWith(code, account)).body.error, 'Invalid account')
  for (const options of Object.values(badBodies))
    t.is((await world().request('POST', `/pay/${code}`, options)).body.error, 'Invalid account')
})
