import test from 'ava'
import { createApiKey } from '../../src/creators/api-keys.js'
import { createClient } from '../helpers/http/client.js'
import { readOperations } from '../helpers/http/openapi-document.js'
import { registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createFiatIntent, readFiatStatus, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import {
  createWithdrawal,
  creatorWithBalance,
  listHistory,
  quickPayouts,
  readBalance,
  reconcileAll,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { connect } from '../sandbox/chain-client.js'

const world = useWorld(test, { fiat: true, chain: true, env: { ...quickPayouts, MODE: 'test' } })
const keyOf = async ({ user }: { readonly user: { readonly id: string } }): Promise<string> =>
  (await createApiKey(world().services, user.id, undefined)).apiKey
const control = (
  path: string,
  body: object,
  credential: { readonly bearer?: string; readonly session?: string },
) => world().request('POST', `/test/${path}`, { body, ...credential })

test('with the API key or the session a creator pays, fails and disputes own naira tips', async (t) => {
  const creator = await registerCreator(world())
  const bearer = await keyOf(creator)
  const intent = () => createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const paid = await intent()
  t.is((await control(`payments/${paid.intentId}`, { outcome: 'paid' }, { bearer })).status, 200)
  await settleIntentNow(world(), paid.intentId)
  t.is(await readFiatStatus(world(), paid.intentId), 'completed')
  t.is(
    (await control(`payments/${paid.intentId}`, { outcome: 'disputed', amountNgn: 100 }, { bearer })).status,
    200,
  )
  const [charge] = world()
    .fiat.fiatpay.charges.all()
    .filter(({ payments }) => payments.length > 0)
  const [dispute] = world().fiat.fiatpay.disputes.listByReference(charge?.reference ?? '')
  t.is(dispute?.amountKobo, 10_000)

  const failed = await intent()
  const { session } = creator
  t.is((await control(`payments/${failed.intentId}`, { outcome: 'failed' }, { session })).status, 200)
  await settleIntentNow(world(), failed.intentId)
  t.is(await readFiatStatus(world(), failed.intentId), 'failed')

  const unpaid = await intent()
  const refused = await control(`payments/${unpaid.intentId}`, { outcome: 'disputed' }, { bearer })
  t.deepEqual([refused.status, refused.body.code], [422, 'test_refused'])
  t.is(refused.body.details[0]?.problem, 'the charge is not paid: pay it first')
})

test("nobody controls another creator's tip or withdrawal, or anything without a credential", async (t) => {
  const creator = await creatorWithBalance(world(), 30)
  const { reference } = await createWithdrawal(world(), creator, { amountUSDC: 20 })
  const { intentId } = await createFiatIntent(world(), {
    creatorId: (await registerCreator(world())).user.id,
    amount: 10,
  })
  const stranger = { bearer: await keyOf(await registerPerson(world())) }
  const payment = await control(`payments/${intentId}`, { outcome: 'paid' }, stranger)
  t.deepEqual([payment.status, payment.body.code], [404, 'payment_intent_not_found'])
  const withdrawal = await control(`withdrawals/${reference}`, { outcome: 'failed' }, stranger)
  t.deepEqual([withdrawal.status, withdrawal.body.code], [404, 'withdrawal_not_found'])
  t.is(world().fiat.fiatpay.charges.find(intentId)?.payments.length, 0)
  for (const [path, body] of [
    [`payments/${intentId}`, { outcome: 'paid' }],
    [`withdrawals/${reference}`, { outcome: 'failed' }],
    ['airdrop', { wallet: unusedWallet(), token: 'SOL', amount: 1 }],
  ] as const)
    t.is((await control(path, body, {})).status, 401, path)
})

test('a creator decides what the bank does with an own withdrawal', async (t) => {
  const creator = await creatorWithBalance(world(), 30)
  const bearer = await keyOf(creator)
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { reference } = await createWithdrawal(world(), creator, { amountUSDC: 20 })
  await sendDuePayouts(world())
  t.is((await control(`withdrawals/${reference}`, { outcome: 'failed' }, { bearer })).status, 200)
  await reconcileAll(world())
  t.is((await listHistory(world(), creator))[0]?.status, 'failed')
  t.deepEqual(await readBalance(world(), creator), { availableUSDC: 30, heldUSDC: 0 })
})

test('an airdrop is bounded in amount and number, and bad input names its field', async (t) => {
  const { url, fiatpay } = world().sandbox
  const provider = { FIATPAY_URL: `${url}/fiatpay`, FIATPAY_SECRET_KEY: fiatpay.secretKey }
  const app = await startApp(t, { ...world().env, ...provider, RATE_LIMIT_FACTOR: '1' })
  const request = await createClient(app.url)
  const bearer = await keyOf(await registerPerson(world()))
  const drop = (body: object) => request('POST', '/test/airdrop', { bearer, body })
  const wallet = unusedWallet()
  t.is((await drop({ wallet, token: 'SOL', amount: 1.5 })).status, 200)
  const { PublicKey } = await import('@solana/web3.js')
  t.is(await connect(world().sandbox).getBalance(new PublicKey(wallet), 'processed'), 1.5e9)
  for (const [change, field] of [
    [{ amount: 10_001 }, 'amount'],
    [{ amount: 0 }, 'amount'],
    [{ amount: '1' }, 'amount'],
    [{ wallet: 'x' }, 'wallet'],
    [{ token: '' }, 'token'],
  ] as const) {
    const { status, body } = await drop({ wallet, token: 'SOL', amount: 1, ...change })
    t.deepEqual([status, body.details[0]?.field], [400, field], JSON.stringify(change))
  }
  t.is((await drop({ wallet, token: 'NONE', amount: 1 })).body.code, 'test_refused')
  const statuses = await Promise.all(
    Array.from({ length: 20 }, () => drop({ wallet, token: 'SOL', amount: 1 })),
  )
  t.true(statuses.some(({ status }) => status === 429))
})

test('a live deployment has no controls: 404 as any unknown path, and none in the document', async (t) => {
  const { url } = await startApp(t, { ...world().env, MODE: 'live' })
  const request = await createClient(url)
  t.false((await readOperations(request)).some(({ path }) => path.startsWith('/test')))
  for (const path of ['/test/payments/x', '/test/withdrawals/x', '/test/airdrop', '/nowhere'])
    t.is((await fetch(`${url}${path}`, { method: 'POST' })).status, 404, path)
})
