import { strict as assert } from 'node:assert'
import {
  ReceiptError,
  type ReceiptKey,
  type SignedReceipt,
  verifyReceipt,
} from '../../src/sdk/client/verify-receipt.js'
import { get, type Json, post, until } from './api.js'
import { callAsCreator, type DemoContext, readBalance, tipsOnStreams } from './context.js'

const amount = 10
/** After the platform's 5 %. */
const credited = 9.5
const timeoutMs = 15_000

/** Sends a tip in naira through a checkout page and one through a bank account, then checks the creator's balance. */
export async function tipInNaira(context: DemoContext): Promise<void> {
  const { say } = context
  const { availableUSDC: before } = await readBalance(context)
  const page = await createFiatIntent(context, 'checkout', 'by card')
  assert.match(String(page['checkoutUrl']), /^http/)
  say(`created a tip of ${amount} USD in naira: the checkout page is ${page['checkoutUrl']}`)
  await payOnPage(String(page['checkoutUrl']))
  await checkArrived(context, String(page['intentId']), 'by card')
  await checkReceipt(context, page)

  const session = await openSession(context)
  const transfer = await createFiatIntent(context, 'bank_transfer', 'by transfer', session)
  assert.equal(transfer['checkoutUrl'], null)
  const account = transfer['paymentInstructions'] as Json
  say(
    `the page made another one: transfer NGN ${account['amount']} to ${account['accountNumber']}, ${account['bankName']}`,
  )
  await post(`${context.sandbox}/dev/fiatpay/charges/${transfer['intentId']}`, { outcome: 'paid' })
  await checkArrived(context, String(transfer['intentId']), 'by transfer')

  const gained = (await readBalance(context)).availableUSDC - before
  assert.ok(Math.abs(gained - 2 * credited) < 1e-6, `the balance grew by ${gained}`)
  const { transactions } = await callAsCreator(context, 'GET', '/creators/transactions?limit=2')
  assert.deepEqual(
    (transactions as Json[]).map(({ reference }) => reference),
    [transfer['intentId'], page['intentId']],
  )
  say(`the creator's balance grew by ${gained} USDC, and both tips are in the list of transactions`)
}

/** Chooses a link, and opens a session as the page behind it does for a stranger. */
async function openSession(context: DemoContext): Promise<string> {
  const { web, say } = context
  const handle = `ada_${Date.now().toString(36)}`
  await callAsCreator(context, 'PATCH', '/creators/page', { handle, words: 'I sing on Fridays.' })
  const page = await fetch(`${web}/@${handle}`)
  assert.match(await page.text(), /I sing on Fridays[.]/)
  say(`the creator chose a link: ${web}/@${handle}; whoever has it tips without an account`)
  return String((await post(`${web}/page/${handle}/session`, {}))['sessionToken'])
}

async function createFiatIntent(
  context: DemoContext,
  fiatCollection: string,
  memo: string,
  session?: string,
): Promise<Json> {
  const { web, creator } = context
  await callAsCreator(context, 'PATCH', '/creators/me', { settings: { fiatCollection } })
  const tip = { creatorId: creator.id, amount, senderName: 'Bola', memo, reference: 'Order 7' }
  const intent = await post(`${web}/payments/fiat/intent`, tip, session)
  assert.equal(intent['status'], 'requires_action')
  return intent
}

/** Submits the checkout page as a payer's click does. */
async function payOnPage(checkoutUrl: string): Promise<void> {
  const response = await fetch(checkoutUrl, {
    method: 'POST',
    body: new URLSearchParams({ outcome: 'paid' }),
    redirect: 'manual',
  })
  assert.ok(response.status < 400, `the checkout page answered ${response.status}`)
  await response.arrayBuffer()
}

async function checkArrived(context: DemoContext, id: string, memo: string): Promise<void> {
  const { web, creator, say } = context
  const paidAt = performance.now()
  const arrived = await tipsOnStreams(context, memo, timeoutMs)
  for (const { tip } of arrived)
    assert.deepEqual([tip.amount, tip.tokenSymbol, tip.sender], [amount, 'FIAT', 'Bola'])
  const ms = Math.round(Math.max(...arrived.map(({ atMs }) => atMs)) - paidAt)
  await until('the status', timeoutMs, async () => {
    const { status } = await get(`${web}/payments/fiat/status?intentId=${id}`)
    return status === 'completed' ? status : undefined
  })
  const { tips } = (await get(`${web}/chain/tips?address=${creator.wallet}`)) as { tips: Json[] }
  const listed = tips.find(({ signature }) => signature === id)
  assert.equal(listed?.['status'], 'confirmed')
  say(`paid ${memo}: on every stream ${ms} ms later, completed, listed at ${listed['valueUsd']} USD`)
}

/** Checks the signed receipt as a shop does that was sent it. */
async function checkReceipt({ web, say }: DemoContext, { statusUrl }: Json): Promise<void> {
  const { pathname } = new URL(String(statusUrl))
  const signed = (await get(`${web}${pathname}.json`)) as unknown as SignedReceipt
  const { keys } = (await get(`${web}/.well-known/tipping-keys.json`)) as { keys: ReceiptKey[] }
  const receipt = await verifyReceipt(signed, keys)
  assert.deepEqual([receipt.status, receipt.reference], ['paid', 'Order 7'])
  const changed = { ...signed, receipt: { ...receipt, amount: `${receipt.amount}0` } }
  await assert.rejects(verifyReceipt(changed, keys), ReceiptError)
  say(
    `its receipt at ${pathname}.json: ${receipt.amount} ${receipt.currency} for ${receipt.reference}; the signature is valid`,
  )
}
