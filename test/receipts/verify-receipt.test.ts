import { generateKeyPairSync, sign } from 'node:crypto'
import test from 'ava'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import {
  canonicalText,
  ReceiptError,
  type ReceiptKey,
  type SignedReceipt,
  verifyReceipt,
} from '../../src/sdk/client/verify-receipt.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { createIntent, makeTipsDue } from '../helpers/make/intents.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { createSupporter } from '../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, fiat: true })

const pathOf = (answer: object): string =>
  String((answer as { statusUrl?: string }).statusUrl).replace(publicUrl, '')

async function readKeys(url = world().url): Promise<readonly ReceiptKey[]> {
  const answer = await fetch(`${url}/.well-known/tipping-keys.json`)
  return ((await answer.json()) as { keys: ReceiptKey[] }).keys
}

async function paidReceipt(): Promise<SignedReceipt & { readonly receipt: Record<string, unknown> }> {
  const creator = await registerEmbedder(world())
  const intent = await createFiatIntent(world(), { creatorId: creator.id, amount: 10, reference: 'Order 7' })
  payFiatIntent(world(), intent.intentId)
  await settleIntentNow(world(), intent.intentId)
  const { body } = await world().request<SignedReceipt & { receipt: Record<string, unknown> }>(
    'GET',
    `${pathOf(intent)}.json`,
  )
  return body
}

test('the receipt of a naira tip is accepted, and every changed one refused', async (t) => {
  const signed = await paidReceipt()
  const keys = await readKeys()
  const receipt = await verifyReceipt(signed, keys)
  t.like(receipt, {
    status: 'paid',
    amount: '15200',
    currency: 'NGN',
    reference: 'Order 7',
    issuer: publicUrl,
  })
  t.deepEqual(receipt.chain, null)
  // Written by another program: other order, other blanks.
  const shuffled = Object.fromEntries(Object.entries(signed.receipt).reverse())
  t.truthy(
    await verifyReceipt(JSON.parse(JSON.stringify({ ...signed, receipt: shuffled }, undefined, 7)), keys),
  )

  const { receipt: fields, signature, keyId } = signed
  const forged = generateKeyPairSync('ed25519')
  const forgedX = forged.publicKey.export({ format: 'jwk' }).x ?? ''
  const change = (changes: object) => ({ ...signed, receipt: { ...fields, ...changes } })
  const without = (name: string) => {
    const { [name]: _, ...rest } = fields
    return { ...signed, receipt: rest }
  }
  const { refunded, ...lacking } = fields
  t.is(refunded, '0')
  const changed: unknown[] = [
    change({ amount: '152000' }),
    change({ amount: 15200 }),
    change({ amount: '15200.0' }),
    change({ currency: 'USD' }),
    change({ status: 'refunded' }),
    change({ refunded: '1' }),
    change({ received: '95' }),
    change({ tipId: String(fields['tipId']).replace(/.$/, 'x') }),
    change({ reference: 'Order 8' }),
    change({ reference: 'Order 7 ' }),
    change({ reference: null }),
    change({ paidAt: '2020-01-01T00:00:00.000Z' }),
    change({ signedAt: '2020-01-01T00:00:00.000Z' }),
    change({ issuer: 'https://evil.example' }),
    change({ mode: 'test' }),
    change({ creator: { ...(fields['creator'] as object), name: 'Eve' } }),
    change({ creator: { ...(fields['creator'] as object), id: null } }),
    change({ chain: {} }),
    change({ note: 'added' }),
    change({ version: 2 }),
    change({ type: 'report' }),
    { ...signed, receipt: lacking },
    without('mode'),
    { ...signed, receipt: JSON.stringify(fields) },
    { ...signed, receipt: [fields] },
    { ...signed, receipt: null },
    { ...signed, signature: signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) },
    { ...signed, signature: signature.toUpperCase() },
    { ...signed, signature: '' },
    { ...signed, signature: 'A'.repeat(86) },
    { ...signed, keyId: 'other' },
    { ...signed, keyId: undefined },
    { receipt: fields, keyId },
    {
      receipt: fields,
      keyId,
      signature: sign(null, Buffer.from(canonicalText(fields)), forged.privateKey).toString('base64url'),
    },
    null,
    'receipt',
    {},
  ]
  for (const one of changed)
    await t.throwsAsync(
      verifyReceipt(one as SignedReceipt, keys),
      { instanceOf: ReceiptError },
      JSON.stringify(one),
    )
  for (const wrong of [
    [],
    keys.map((key) => ({ ...key, signs: 'reports' })),
    keys.map(({ kid, x }) => ({ kid, x })),
    keys.map((key) => ({ ...key, x: forgedX })),
  ])
    await t.throwsAsync(verifyReceipt(signed, wrong), { instanceOf: ReceiptError })
})

test('a tip on the chain has a receipt once it is final, with its transaction', async (t) => {
  const creator = await registerEmbedder(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const body = {
    creatorId: creator.id,
    amount: 2,
    inputTokenMint: tokenBySymbol('USDC')?.mint,
    sourceWalletAddress: supporter.wallet,
  }
  t.false('statusUrl' in (await createIntent(world().request, body)), 'who knows only the contract')
  const intent = await createIntent(world().request, { ...body, reference: 'Order 9', message: 'for you' })
  const path = pathOf(intent)
  const page = async () => (await (await fetch(`${world().url}${path}`)).text()).replace(/<[^>]*>/g, ' ')
  t.regex(await page(), /Waiting for 2 USDC/)
  const txSignature = supporter.pay(intent.transaction)
  await recordTip(world(), {
    creatorWallet: creator.wallet,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    tokenSymbol: 'USDC',
    txSignature,
    intentId: intent.intentId,
  })
  t.regex(await page(), /Your payment was sent|Paid/)
  const verifier = createVerifierBatch(as('verifier', world().services))
  const finalNow = async () => (await readTipRow(world(), txSignature))?.finalized_at != null
  await runBatchUntil(
    async () => {
      await makeTipsDue(world())
      const taken = await verifier()
      const row = await readTipRow(world(), txSignature)
      const answer = await world().request('GET', `${path}.json`)
      // Never a receipt of what the chain may still undo.
      if (answer.status === 200) t.truthy((await readTipRow(world(), txSignature)).finalized_at)
      else if (row?.finalized_at === null) t.is(answer.status, 409)
      return taken
    },
    'the tip is final',
    finalNow,
  )
  t.regex(await page(), /Paid\. Thank you!.*The creator got\s+1\.96 USDC, after our fee.*Signed receipt/s)
  const { body: signed } = await world().request<SignedReceipt>('GET', `${path}.json`)
  const receipt = await verifyReceipt(signed, await readKeys())
  t.like(receipt, { status: 'paid', amount: '2', currency: 'USDC', received: '1.96', reference: 'Order 9' })
  t.like(receipt.chain, { signature: txSignature, wallet: creator.wallet })
  t.false(JSON.stringify(signed).includes(supporter.wallet), 'the payer is not named')
})

test.serial('after a change of DATA_KEY receipts are signed anew, and older ones stay valid', async (t) => {
  const signed = await paidReceipt()
  const first = await readKeys()
  t.is(first.filter(({ signs }) => signs === 'receipts').length, 1)
  const { OTP_PEPPER: pepper = '' } = world().env
  t.truthy(pepper)
  const other = await startApp(t, { ...world().env, DATA_KEY: Buffer.alloc(32, 7).toString('base64') })
  const keys = await readKeys(other.url)
  t.is(keys.filter(({ signs }) => signs === 'receipts').length, 2)
  t.truthy(await verifyReceipt(signed, keys))
})

test('the client writes the canonical JSON that the library writes', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      t.is(canonicalText(value), String(canonicalize(value)))
    }),
  )
  t.is(
    canonicalText({ 10: 1, 9: 2, b: '€\u0007"', a: [1e21, -0, 1.5] }),
    '{"10":1,"9":2,"a":[1e+21,0,1.5],"b":"€\\u0007\\""}',
  )
})
