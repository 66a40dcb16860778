import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { get, type Json, post, send, until } from './demo/api.js'
import { type Creator, type DemoContext, openStream } from './demo/context.js'
import { tipInNaira } from './demo/naira.js'
import { runOps } from './demo/ops.js'
import { showReserves } from './demo/reserves.js'
import { tipThroughSdk } from './demo/sdk.js'
import { sendTip, tipThroughSwap } from './demo/send-tip.js'
import { requireStandIns } from './demo/stand-ins.js'
import { createSupporter, type Supporter } from './demo/supporter.js'
import { sweepToTreasury } from './demo/sweep.js'
import { withdrawNaira } from './demo/withdrawal.js'

/**
 * `npm run demo`: runs the main job against a running stack, with real signatures and live streams: tips on the chain,
 * through the SDK, through a swap engine and in naira, a withdrawal to a bank, the sweep of what it has paid for, and the
 * signed report of what the platform owes and has. Prints every step. The exit code is 0 only if every step held.
 */
const port = Number(process.env['PORT'] ?? 3000)
/** A stream each: with one web process, two to the same. */
const webs = [port, port + Math.min(1, Number(process.env['WEB_PROCESSES'] ?? 2) - 1)].map(
  (each) => `http://localhost:${each}`,
)
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
  const { answer, cookie } = await send(`${web}/auth/register`, { method: 'POST', body: registration })
  const { id } = answer['user'] as { id: string }
  say(`registered ${email}, user ${id}`)
  const wallet = await until('the wallet', 10_000, async () => {
    const { answer: me } = await send(`${web}/auth/me`, { cookie })
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
    await post(`${sandbox}/dev/airdrop`, { wallet: supporter.wallet, token, amount } as Json)
  }
  say(`funded supporter ${supporter.wallet} with 10 SOL and 100 USDC`)
  return supporter
}

interface Tip {
  readonly symbol: string
  readonly amount: number
  readonly message: string
}

/** Sends a tip, from intent to the event on every stream. Returns the ms from landing to the slower of the two events. */
async function tip(context: DemoContext, { symbol, amount, message }: Tip): Promise<number> {
  const { arrived, landedAt } = await sendTip(context, symbol, amount, message)
  for (const { tip } of arrived)
    assert.deepEqual([tip.amount, tip.tokenSymbol, tip.sender], [amount, symbol, context.supporter.wallet])
  return Math.max(...arrived.map(({ atMs }) => atMs)) - landedAt
}

/** Lands a failing transaction and records it as a tip. Returns the claim. */
async function recordFailedTip({ creator, supporter }: DemoContext): Promise<Json> {
  const txSignature = await supporter.submitFailing(creator.wallet)
  const claim = {
    creatorWallet: creator.wallet,
    tipAmount: 1_000_000_000,
    senderWallet: supporter.wallet,
    txSignature,
  }
  await post(`${web}/chain/tips/create`, claim)
  say('recorded a tip with the signature of a failed transaction')
  return claim
}

async function checkStillPending(claim: Json): Promise<void> {
  const answer = await post(`${web}/chain/tips/create`, claim)
  assert.deepEqual(answer['tip'], { id: claim['txSignature'], status: 'pending' })
  say('the tip with the failed transaction is still pending and is not listed')
}

async function checkList({ creator }: DemoContext, expected: readonly Tip[]): Promise<void> {
  const { tips } = (await get(`${web}/chain/tips?address=${creator.wallet}`)) as { tips: Json[] }
  assert.equal(tips.length, expected.length)
  for (const { message, amount, symbol } of expected) {
    const listed = tips.find((item) => item['message'] === message)
    assert(listed, `"${message}" is listed`)
    const shown = [listed['amount'], listed['tokenSymbol'], listed['status'], listed['recipient_id']]
    assert.deepEqual(shown, [amount, symbol, 'confirmed', creator.id])
    say(`listed: ${amount} ${symbol}, worth ${listed['valueUsd']} USD, "${message}"`)
  }
}

/** Sends several tips. Prints and returns the median time from landing to the slower stream. */
async function measure(context: DemoContext): Promise<number> {
  const times: number[] = []
  for (let n = 1; n <= measuredTips; n++) {
    times.push(await tip(context, { symbol: 'SOL', amount: 0.01, message: `measured ${n}` }))
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(measuredTips / 2)] as number
  say(
    `from landing to event over ${measuredTips} tips: median ${Math.round(median)} ms, slowest ${Math.round(Math.max(...times))} ms`,
  )
  return median
}

async function runMainJob(context: DemoContext): Promise<void> {
  say(`a stream is open on each of ${webs.join(' and ')}`)
  const tips: Tip[] = [
    { symbol: 'SOL', amount: 0.5, message: 'for the album' },
    { symbol: 'USDC', amount: 5, message: 'lunch is on me' },
  ]
  for (const one of tips) {
    const ms = await tip(context, one)
    say(`tipped ${one.amount} ${one.symbol}: on both streams ${Math.round(ms)} ms after landing`)
  }
  const failed = await recordFailedTip(context)
  await checkList(context, tips)
  const median = await measure(context)
  await checkStillPending(failed)
  assert(median < goalMs, `the median is under ${goalMs} ms`)
}

/** Fails unless every invariant of the ledger holds. Prints the balance of each kind of account that has entries. */
async function checkBooks(): Promise<void> {
  const [, ...balances] = (await runOps('check-books')).trim().split('\n\n')
  for (const line of balances.join('\n').split('\n')) if (!line.includes(' 0 entries ')) say(line)
}

try {
  await requireStandIns(sandbox)
  const creator = await registerCreator()
  const supporter = await fundSupporter()
  const streams = await Promise.all(webs.map((base) => openStream(base, creator.wallet)))
  try {
    const context: DemoContext = { web, sandbox, creator, supporter, streams, say }
    await runMainJob(context)
    await tipThroughSdk(context)
    await tipThroughSwap(context)
    await tipInNaira(context)
    await withdrawNaira(context)
    await sweepToTreasury(context)
    await showReserves(context)
    await checkBooks()
  } finally {
    await Promise.all(streams.map((stream) => stream.close()))
  }
  say('every step held')
} catch (error) {
  process.stderr.write(`the demo failed: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
