import { strict as assert } from 'node:assert'
import { createBackendClient, createTipClient, type TipCompleted } from '../../src/sdk/client/index.js'
import { callAsCreator, type DemoContext } from './context.js'

/** The tip in USD. */
const amount = 4
const pollMs = 200
const timeoutMs = 10_000

/**
 * A tip as an integrator makes it, with the SDK's client. The backend opens a session with its API key, the page creates
 * and pays the tip with the session token, and the backend polls for the event.
 */
export async function tipThroughSdk(context: DemoContext): Promise<void> {
  const { web, creator, say } = context
  const label = { label: 'the demo' }
  const key = await callAsCreator(context, 'POST', '/creators/api-keys', label)
  const backend = createBackendClient({ baseUrl: web, apiKey: String(key['apiKey']) })
  say(`created the API key ${key['prefix']} for the creator's backend`)

  const earlier = await latest(backend.tipEvents({ creatorId: creator.id }))
  const { sessionToken, config } = await backend.init({
    creatorId: creator.id,
    originUrl: 'http://localhost:5173',
  })
  say(`the backend opened an SDK session for ${config.creatorAddress}`)

  const { intentId, signature } = await tipFromPage(context, sessionToken)
  say(`the page tipped ${amount} USD in USDC: intent ${intentId.slice(0, 11)}... is confirmed`)

  const signal = AbortSignal.timeout(timeoutMs)
  const since = earlier === undefined ? {} : { since: earlier.timestamp }
  const { value: event } = await backend.tipEvents({ creatorId: creator.id, pollMs, signal, ...since }).next()
  assert.equal(event?.txSignature, signature)
  assert.equal(event?.amountUsdc, amount)
  say(`the backend received the event: ${event.amountUsdc} ${event.tokenSymbol} from ${event.sender}`)
}

/** What runs in the supporter's browser. It has only the session token. Returns the confirmed payment. */
async function tipFromPage(
  { web, creator, supporter }: DemoContext,
  sessionToken: string,
): Promise<{ intentId: string; signature: string }> {
  const page = createTipClient({ baseUrl: web, sessionToken })
  const usdc = (await page.session()).tokens.find(({ symbol }) => symbol === 'USDC')
  assert(usdc, 'the creator accepts USDC')
  const { intentId, transaction } = await page.tip({
    creatorId: creator.id,
    amount,
    inputTokenMint: usdc.mint,
    sourceWalletAddress: supporter.wallet,
  })
  const signature = await supporter.signAndSubmit(transaction)
  await page.record({
    intentId,
    txSignature: signature,
    creatorWallet: creator.wallet,
    senderWallet: supporter.wallet,
    tipAmount: amount * 10 ** usdc.decimals,
    tokenSymbol: usdc.symbol,
    message: 'through the SDK',
  })
  const settled = await page.settled(intentId, { pollMs, signal: AbortSignal.timeout(timeoutMs) })
  assert.equal(settled.status, 'confirmed')
  return { intentId, signature }
}

async function latest(events: AsyncIterable<TipCompleted>): Promise<TipCompleted | undefined> {
  let last: TipCompleted | undefined
  for await (const event of events) last = event
  return last
}
