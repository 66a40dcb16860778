import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { tokens } from '../src/kernel/tokens.js'
import { callApi, callAsBrowser, type Json, until } from './demo/api.js'
import { checkBooks } from './demo/books.js'
import { readEvents } from './demo/event-reader.js'
import { tipInNaira } from './demo/naira.js'
import { tipThroughSdk } from './demo/sdk.js'
import { type Creator, type Stage, tipOnStreams } from './demo/stage.js'
import { createSupporter, type Supporter } from './demo/supporter.js'
import { tipThroughSwap } from './demo/swap.js'
import { withdrawNaira } from './demo/withdrawal.js'

/**
 * `npm run demo`: the main job against a running stack, with real signatures and live streams, once more through the SDK,
 * once through a swap engine, in naira, and a withdrawal to a bank, told step by step.
 * Exit code 0 only if every step held.
 */
const port = Number(process.env['PORT'] ?? 3000)
const webs = [`http://localhost:${port}`, `http://localhost:${port + 1}`]
const sandbox = `http://localhost:${process.env['SANDBOX_PORT'] ?? 8899}`
const [web] = webs as [string]
const measuredTips = 9
const goalMs = 1500

const startedAt = performance.now()
function say(text: string): void {
  process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${text}\n`)
}

async function registerCreator(): Promise<Creator> {
  const email = `ada-${randomBytes(6).toString('hex')}@example.com`
  const registration = { email, password: 'correct horse battery', name: 'Ada Obi' }
  const { answer, cookie } = await callAsBrowser(web, '/auth/register', registration)
  const { id } = answer['user'] as { id: string }
  say(`registered ${email}, user ${id}`)
  const { accessToken } = answer['auth'] as { accessToken: string }
  const wallet = await until('the wallet', 10_000, async () => {
    const me = await callApi(web, 'GET', '/auth/me', undefined, accessToken)
    return (me['user'] as { walletPublicKey: string | null }).walletPublicKey ?? undefined
  })
  say(`wallet ${wallet} was provisioned by the worker`)
  return { id, wallet, cookie }
}

async function fundSupporter(): Promise<Supporter> {
  const supporter = createSupporter(sandbox)
  for (const [token, amount] of [
    ['SOL', '10'],
    ['USDC', '100'],
  ]) {
    await callApi(sandbox, 'POST', '/dev/airdrop', { wallet: supporter.wallet, token, amount } as Json)
  }
  say(`funded supporter ${supporter.wallet} with 10 SOL and 100 USDC`)
  return supporter
}

interface Tip {
  readonly symbol: string
  readonly amount: number
  readonly message: string
}

/** From intent to the event on every stream. Returns ms from landing to the slower of the two events. */
async function tip(stage: Stage, { symbol, amount, message }: Tip): Promise<number> {
  const { creator, supporter } = stage
  const token = tokens.find((one) => one.symbol === symbol)
  assert(token, `${symbol} is a known token`)
  const intent = await callApi(web, 'POST', '/payments/intent', {
    creatorId: creator.id,
    amount,
    inputTokenMint: token.mint,
    sourceWalletAddress: supporter.wallet,
  })
  assert.equal(intent['status'], 'requires_action')
  const signature = await supporter.signAndSubmit(intent['transaction'] as string)
  const landedAt = performance.now()
  const recorded = await callApi(web, 'POST', '/chain/tips/create', {
    creatorWallet: creator.wallet,
    tipAmount: Math.round(amount * 10 ** token.decimals),
    senderWallet: supporter.wallet,
    txSignature: signature,
    tokenSymbol: symbol,
    message,
  })
  assert.equal(recorded['message'], 'Tip recorded successfully')
  const events = await tipOnStreams(stage, message, 10_000)
  for (const { data } of events) {
    assert.equal(data['amount'], amount)
    assert.equal(data['tokenSymbol'], symbol)
    assert.equal(data['sender'], supporter.wallet)
  }
  return Math.max(...events.map(({ atMs }) => atMs)) - landedAt
}

/** Lands a transaction that fails and records it all the same. Returns the claim. */
async function recordFailedTip({ creator, supporter }: Stage): Promise<Json> {
  const txSignature = await supporter.submitFailing(creator.wallet)
  const claim = {
    creatorWallet: creator.wallet,
    tipAmount: 1_000_000_000,
    senderWallet: supporter.wallet,
    txSignature,
  }
  await callApi(web, 'POST', '/chain/tips/create', claim)
  say('recorded the signature of a failed transaction')
  return claim
}

async function checkStillPending(claim: Json): Promise<void> {
  const answer = await callApi(web, 'POST', '/chain/tips/create', claim)
  assert.deepEqual(answer['tip'], { id: claim['txSignature'], status: 'pending' })
  say("the failed transaction's tip is still pending, and not listed")
}

async function checkList({ creator }: Stage, expected: readonly Tip[]): Promise<void> {
  const { tips } = (await callApi(web, 'GET', `/chain/tips?address=${creator.wallet}`)) as { tips: Json[] }
  assert.equal(tips.length, expected.length)
  for (const { message, amount, symbol } of expected) {
    const listed = tips.find((item) => item['message'] === message)
    assert(listed, `"${message}" is listed`)
    const shown = [listed['amount'], listed['tokenSymbol'], listed['status'], listed['recipient_id']]
    assert.deepEqual(shown, [amount, symbol, 'confirmed', creator.id])
    say(`listed: ${amount} ${symbol}, worth ${listed['valueUsd']} USD, "${message}"`)
  }
}

/** Tips again and again; prints the median time from landing to the slower stream. */
async function measure(stage: Stage): Promise<number> {
  const times: number[] = []
  for (let n = 1; n <= measuredTips; n++) {
    times.push(await tip(stage, { symbol: 'SOL', amount: 0.01, message: `measured ${n}` }))
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(measuredTips / 2)] as number
  say(
    `from landing to event over ${measuredTips} tips: median ${Math.round(median)} ms, slowest ${Math.round(Math.max(...times))} ms`,
  )
  return median
}

async function tellMainJob(stage: Stage): Promise<void> {
  for (const stream of stage.streams) await stream.next(({ data }) => data['status'] === 'connected', 5000)
  say(`a stream is open on each of ${webs.join(' and ')}`)
  const tips: Tip[] = [
    { symbol: 'SOL', amount: 0.5, message: 'for the album' },
    { symbol: 'USDC', amount: 5, message: 'lunch is on me' },
  ]
  for (const one of tips) {
    const ms = await tip(stage, one)
    say(`tipped ${one.amount} ${one.symbol}: on both streams ${Math.round(ms)} ms after landing`)
  }
  const failed = await recordFailedTip(stage)
  await checkList(stage, tips)
  const median = await measure(stage)
  await checkStillPending(failed)
  assert(median < goalMs, `the median is under ${goalMs} ms`)
}

try {
  const creator = await registerCreator()
  const supporter = await fundSupporter()
  const streams = await Promise.all(
    webs.map((base) => readEvents(`${base}/chain/tips/stream?wallet=${creator.wallet}`)),
  )
  try {
    const stage: Stage = { web, sandbox, creator, supporter, streams, say }
    await tellMainJob(stage)
    await tipThroughSdk(stage)
    await tipThroughSwap(stage)
    await tipInNaira(stage)
    await withdrawNaira(stage)
    await checkBooks(say)
  } finally {
    await Promise.all(streams.map((stream) => stream.close()))
  }
  say('every step held')
} catch (error) {
  process.stderr.write(`the demo failed: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
