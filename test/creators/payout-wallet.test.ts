import test from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { storePayoutWallet } from '../../src/accounts/payout-wallets/payout-wallet.js'
import { voidCredentials } from '../../src/accounts/void-credentials.js'
import { DomainError } from '../../src/kernel/errors.js'
import { usdc } from '../../src/kernel/tokens.js'
import { mailKinds } from '../helpers/alerts-and-mails.js'
import { type Person, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { addPayoutWallet, sendTipsTo, walletChallenge } from '../helpers/make/payout-wallets.js'
import { stepUpCode, wrongCode } from '../helpers/make/sign-in/emailed-codes.js'
import { addTotp, ageFactors, nextCode } from '../helpers/make/sign-in/factors.js'
import { createHolder, signText, type WalletHolder } from '../helpers/make/sol-domains.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
const path = '/creators/payout-wallet'

interface WalletBody {
  readonly payoutWallet?: {
    readonly wallet: string
    readonly provenAt: string
    readonly takesTips: boolean
  } | null
  readonly code?: string
  readonly details?: readonly { readonly field: string; readonly problem: string }[]
}

const read = async ({ session }: Pick<Person, 'session'>) =>
  (await world().request<WalletBody>('GET', path, { session })).body.payoutWallet
const put = ({ session }: Pick<Person, 'session'>, body: Record<string, unknown>) =>
  world().request<WalletBody>('PUT', path, { session, body })
const patch = ({ session }: Pick<Person, 'session'>, body: Record<string, unknown>) =>
  world().request<WalletBody & { creator?: { settings: { tipsTo: string } } }>('PATCH', '/creators/me', {
    session,
    body,
  })
const tipsToOf = async (owner: Person) => (await patch(owner, {})).body.creator?.settings.tipsTo
/** A wallet with its signature of a new challenge. */
async function proofOf(owner: Person, holder: WalletHolder) {
  const message = await walletChallenge(world(), owner, holder.address)
  return { wallet: holder.address, signature: signText(holder, message) }
}
const mailsTo = ({ email }: Person) => mailKinds(world(), email)

test('a creator’s wallet becomes the payout wallet by its signature and the mailed code, and the owner is told', async (t) => {
  const [ada, holder] = [await registerPerson(world()), createHolder()]
  t.is(await read(ada), null)
  const message = await walletChallenge(world(), ada, holder.address)
  for (const part of [holder.address, ada.user.id, 'tips.example', new Date().toISOString().slice(0, 10)])
    t.true(message.includes(part), part)
  const proof = { wallet: holder.address, signature: signText(holder, message) }

  const asked = await put(ada, proof)
  t.is(asked.status, 401)
  t.is(asked.body.code, 'step_up_required')
  t.is(await read(ada), null)
  const set = await put(ada, { ...proof, code: await stepUpCode(world(), ada.email) })
  t.is(set.status, 200)
  t.like(set.body.payoutWallet, { wallet: holder.address, takesTips: false })
  t.deepEqual(await read(ada), set.body.payoutWallet)
  t.deepEqual((await mailsTo(ada)).slice(-2), ['step-up-code', 'payout-wallet-set'])
  const notice = await world().db('emails').where({ kind: 'payout-wallet-set', recipient: ada.email }).first()
  t.true(mailText(notice).includes(holder.address))
  t.regex(mailText(notice), /#not-me=/)
  const codeMail = await world().db('emails').where({ kind: 'step-up-code', recipient: ada.email }).first()
  t.regex(mailText(codeMail), /#not-me=/)

  t.is((await put(ada, proof)).body.code, 'invalid_wallet_signature', 'a challenge is used once')

  t.is((await world().request('DELETE', path, { session: ada.session })).status, 200)
  t.is(await read(ada), null)
  t.is((await mailsTo(ada)).at(-1), 'payout-wallet-removed')
  t.is((await world().request('DELETE', path, { session: ada.session })).status, 200)
})

test('no other wallet and no other signature is taken, and no code is mailed for them', async (t) => {
  const { db, services } = world()
  const [ada, eve] = [await registerCreator(world()), await registerCreator(world())]
  const [holder, other] = [createHolder(), createHolder()]
  const tokenAccount = services.chain.associatedAccount(services.config.tips.treasuryWallet, usdc.mint)
  for (const wallet of [
    ada.wallet,
    eve.wallet,
    services.config.tips.treasuryWallet,
    usdc.mint,
    tokenAccount,
    'x',
    '',
  ]) {
    const challenge = await world().request<WalletBody>('POST', `${path}/challenge`, {
      session: ada.session,
      body: { wallet },
    })
    t.is(challenge.body.code, 'invalid_wallet', wallet)
    t.is((await put(ada, { wallet, signature: 'x' })).body.code, 'invalid_wallet', wallet)
  }
  const proof = await proofOf(ada, holder)
  const forged = [
    { ...proof, signature: signText(other, await walletChallenge(world(), ada, holder.address)) },
    { ...proof, signature: signText(holder, await walletChallenge(world(), eve, holder.address)) },
    { ...proof, wallet: other.address },
    { ...(await proofOf(ada, holder)), signature: proof.signature },
    { ...proof, signature: undefined },
    { ...proof, signature: '1'.repeat(64) },
  ]
  for (const body of forged) t.is((await put(ada, body)).body.code, 'invalid_wallet_signature')
  const late = await proofOf(ada, holder)
  await db('one_time_secrets')
    .where({ user_id: ada.user.id, purpose: 'payout_wallet' })
    .update({ expires_at: new Date() })
  t.is((await put(ada, late)).body.code, 'invalid_wallet_signature')

  await addPayoutWallet(world(), eve, holder)
  t.is((await put(ada, await proofOf(ada, holder))).body.code, 'payout_wallet_in_use')
  t.false((await mailsTo(ada)).includes('step-up-code'))
})

test('a code confirms exactly the request that it was mailed for, once; five wrong ones void it, and a day has ten', async (t) => {
  const [ada, first, second] = [await registerPerson(world()), createHolder(), createHolder()]
  const proof = await proofOf(ada, first)
  t.is((await put(ada, proof)).status, 401)
  const code = await stepUpCode(world(), ada.email)
  const another = await proofOf(ada, second)
  t.is((await put(ada, { ...another, code })).body.code, 'invalid_code', 'it is for the first wallet')
  const again = await proofOf(ada, first)
  t.is((await put(ada, { ...again, code })).status, 200, 'the wrong request has not used it up')

  t.is((await patch(ada, { settings: { tipsTo: 'payout_wallet' }, code })).body.code, 'invalid_code')
  t.is((await patch(ada, { settings: { tipsTo: 'payout_wallet' } })).body.code, 'step_up_required')
  const newer = await stepUpCode(world(), ada.email)
  for (let nth = 1; nth <= 5; nth++)
    t.is(
      (await patch(ada, { settings: { tipsTo: 'payout_wallet' }, code: wrongCode(newer, nth) })).body.code,
      'invalid_code',
    )
  t.is(
    (await patch(ada, { settings: { tipsTo: 'payout_wallet' }, code: newer })).body.code,
    'invalid_code',
    'the right one is void',
  )
  for (let asked = 3; asked <= 10; asked++)
    t.is((await patch(ada, { settings: { tipsTo: 'payout_wallet' } })).body.code, 'step_up_required')
  const refused = await patch(ada, { settings: { tipsTo: 'payout_wallet' } })
  t.is(refused.status, 429)
  t.true(Number(refused.headers['retry-after']) > 80_000)
  const last = await stepUpCode(world(), ada.email)
  const done = await patch(ada, { settings: { tipsTo: 'payout_wallet', minTipUsd: 2 }, code: last })
  t.like(done.body.creator?.settings, { tipsTo: 'payout_wallet', minTipUsd: 2 })
  t.is((await patch(ada, { settings: { tipsTo: 'payout_wallet' } })).status, 200, 'nothing changes')
  t.is((await mailsTo(ada)).at(-1), 'tips-to-changed')
})

test('a factor older than 72 hours does as well, but no young one, nor any after a recent change', async (t) => {
  const ada = await registerPerson(world())
  const { secret } = await addTotp(world(), ada)
  const setWith = async () =>
    put(ada, { ...(await proofOf(ada, createHolder())), totp: await nextCode(world(), ada, secret) })
  const young = await setWith()
  t.is(young.body.code, 'invalid_code')
  t.is(young.body.details?.[0]?.field, 'totp')
  await ageFactors(world(), ada, 73)
  t.is((await setWith()).body.code, 'invalid_code', 'a factor was added in the last 72 hours')
  await world()
    .db('users')
    .where({ id: ada.user.id })
    .update({ factors_changed_at: new Date(Date.now() - 73 * 3_600_000) })
  t.is((await setWith()).status, 200)

  await world()
    .db('email_changes')
    .insert({
      user_id: ada.user.id,
      old_email: `old-${ada.email}`,
      new_email: ada.email,
      undo_until: new Date(Date.now() + 3_600_000),
    })
  const afterChange = await setWith()
  t.is(afterChange.body.code, 'invalid_code')
  const proof = await proofOf(ada, createHolder())
  t.is((await put(ada, proof)).status, 401)
  t.is(await stepUpCode(world(), ada.email), '', 'the code goes to the address that can be restored')
  t.is((await put(ada, { ...proof, code: await stepUpCode(world(), `old-${ada.email}`) })).status, 200)
})

test('tips go to the payout wallet only while there is one, and a choice needs a step-up in both directions', async (t) => {
  const ada = await registerPerson(world())
  const refused = await patch(ada, { settings: { tipsTo: 'payout_wallet' } })
  t.is(refused.status, 409)
  t.is(refused.body.code, 'payout_wallet_required')
  t.is((await patch(ada, { settings: { tipsTo: 'elsewhere' } })).body.code, 'invalid_settings')
  t.is((await patch(ada, { settings: { tipsTo: 'custody' } })).status, 200)

  await addPayoutWallet(world(), ada)
  t.is(await tipsToOf(ada), 'custody')
  await sendTipsTo(world(), ada, 'payout_wallet')
  t.is(await tipsToOf(ada), 'payout_wallet')
  const next = await addPayoutWallet(world(), ada)
  t.like(await read(ada), { wallet: next.address, takesTips: true })
  t.is((await patch(ada, { settings: { tipsTo: 'custody' } })).body.code, 'step_up_required')
  await sendTipsTo(world(), ada, 'custody')
  t.is(await tipsToOf(ada), 'custody')
  await sendTipsTo(world(), ada, 'payout_wallet')
  await world().request('DELETE', path, { session: ada.session })
  t.is(await tipsToOf(ada), 'custody')
})

test('a frozen account is refused, and what a thief may have set goes when it is unfrozen or its credentials are void', async (t) => {
  const { db, services } = world()
  const [ada, ben, cleo] = [
    await registerPerson(world()),
    await registerPerson(world()),
    await registerPerson(world()),
  ]
  for (const owner of [ada, ben, cleo]) await addPayoutWallet(world(), owner)
  await db('payout_wallets')
    .where({ user_id: ben.user.id })
    .update({ proven_at: new Date(Date.now() - 80 * 3_600_000) })
  const ops = (name: 'freeze-account' | 'unfreeze', { email }: Person) =>
    runOpsScript(world(), name, '--user', email, '--apply', '--reason', 'test')
  for (const owner of [ada, ben]) {
    const { session } = owner
    await db('users').where({ id: owner.user.id }).update({ frozen_at: new Date(), frozen_reason: 'test' })
    for (const [method, to, body] of [
      ['POST', `${path}/challenge`, { wallet: unusedWallet() }],
      ['PUT', path, {}],
      ['DELETE', path, undefined],
    ] as const)
      t.is((await world().request<WalletBody>(method, to, { session, body })).body.code, 'account_frozen')
    await ops('unfreeze', owner)
  }
  const wallets = await db('payout_wallets').whereIn('user_id', [ada.user.id, ben.user.id])
  t.deepEqual(
    wallets.map(({ user_id }) => user_id),
    [ben.user.id],
  )

  await services.transact(({ trx }) => voidCredentials(trx, cleo.user.id))
  t.is((await db('payout_wallets').where({ user_id: cleo.user.id })).length, 0)
})

test('of a hundred accounts that prove one wallet at the same time one has it', async (t) => {
  const { db, services } = world()
  const users = await db('users')
    .insert(
      Array.from({ length: 100 }, (_, n) => ({
        email: `race-${n}-${Date.now()}@example.com`,
        name: 'Racer',
      })),
    )
    .returning('id')
  const wallet = unusedWallet()
  const outcomes = await Promise.allSettled(
    users.map(({ id }) => services.transact(({ trx }) => storePayoutWallet(trx, id, wallet))),
  )
  const refused = outcomes.filter(
    (one) =>
      one.status === 'rejected' &&
      one.reason instanceof DomainError &&
      one.reason.code === 'payout_wallet_in_use',
  )
  t.is(refused.length, 99)
  t.is((await db('payout_wallets').where({ wallet })).length, 1)
})

test('of two requests with one signature and one code one is done', async (t) => {
  const [ada, holder] = [await registerPerson(world()), createHolder()]
  const proof = await proofOf(ada, holder)
  await put(ada, proof)
  const body = { ...proof, code: await stepUpCode(world(), ada.email) }
  const answers = await Promise.all(Array.from({ length: 8 }, () => put(ada, body)))
  t.is(answers.filter(({ status }) => status === 200).length, 1)
})
