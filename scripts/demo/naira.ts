import { strict as assert } from 'node:assert'
import { callApi, callAsOwner, type Json, until } from './api.js'
import { balanceOf } from './balance.js'
import { type Stage, tipOnStreams } from './stage.js'

const amount = 10
/** After the platform's 5 %. */
const credited = 9.5
const patienceMs = 15_000

/**
 * A tip by each of the two ways a creator can collect naira: a checkout page, and a bank account to transfer to; then
 * what the creator has.
 */
export async function tipInNaira(stage: Stage): Promise<void> {
  const { web, creator, say } = stage
  const { availableUSDC: before } = await balanceOf(stage)
  const page = await ask(stage, 'checkout', 'by card')
  assert.match(String(page['checkoutUrl']), /^http/)
  say(`asked for ${amount} USD in naira: checkout page ${page['checkoutUrl']}`)
  await press(String(page['checkoutUrl']))
  await arrived(stage, String(page['intentId']), 'by card')

  const transfer = await ask(stage, 'bank_transfer', 'by transfer')
  assert.equal(transfer['checkoutUrl'], null)
  const account = transfer['paymentInstructions'] as Json
  say(`asked again: transfer NGN ${account['amount']} to ${account['accountNumber']}, ${account['bankName']}`)
  await callApi(stage.sandbox, 'POST', `/dev/fiatpay/charges/${transfer['intentId']}`, { outcome: 'paid' })
  await arrived(stage, String(transfer['intentId']), 'by transfer')

  const gained = (await balanceOf(stage)).availableUSDC - before
  assert.ok(Math.abs(gained - 2 * credited) < 1e-6, `the balance grew by ${gained}`)
  const { transactions } = await callAsOwner(web, 'GET', '/creators/transactions?limit=2', creator.cookie)
  assert.deepEqual(
    (transactions as Json[]).map(({ reference }) => reference),
    [transfer['intentId'], page['intentId']],
  )
  say(`the creator's balance grew by ${gained} USDC, with a line for each`)
}

async function ask({ web, creator }: Stage, fiatCollection: string, memo: string): Promise<Json> {
  await callAsOwner(web, 'PATCH', '/creators/me', creator.cookie, { settings: { fiatCollection } })
  const tip = { creatorId: creator.id, amount, senderName: 'Bola', memo }
  const intent = await callApi(web, 'POST', '/payments/fiat/intent', tip)
  assert.equal(intent['status'], 'requires_action')
  return intent
}

/** As a payer's click on the page would. */
async function press(checkoutUrl: string): Promise<void> {
  const response = await fetch(checkoutUrl, {
    method: 'POST',
    body: new URLSearchParams({ outcome: 'paid' }),
    redirect: 'manual',
  })
  assert.ok(response.status < 400, `the checkout page answered ${response.status}`)
  await response.arrayBuffer()
}

async function arrived(stage: Stage, id: string, memo: string): Promise<void> {
  const { web, creator, say } = stage
  const paidAt = performance.now()
  const events = await tipOnStreams(stage, memo, patienceMs)
  for (const { data } of events)
    assert.deepEqual([data['amount'], data['tokenSymbol'], data['sender']], [amount, 'FIAT', 'Bola'])
  const ms = Math.round(Math.max(...events.map(({ atMs }) => atMs)) - paidAt)
  await until('the status', patienceMs, async () => {
    const { status } = await callApi(web, 'GET', `/payments/fiat/status?intentId=${id}`)
    return status === 'completed' ? status : undefined
  })
  const { tips } = (await callApi(web, 'GET', `/chain/tips?address=${creator.wallet}`)) as { tips: Json[] }
  const listed = tips.find(({ signature }) => signature === id)
  assert.equal(listed?.['status'], 'confirmed')
  say(`paid ${memo}: on every stream ${ms} ms later, completed, listed at ${listed['valueUsd']} USD`)
}
