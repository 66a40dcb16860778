import { setTimeout as sleep } from 'node:timers/promises'
import { VersionedTransaction } from '@solana/web3.js'
import { displayText } from '../../../src/kernel/money.js'
import { solMint, usdc } from '../../../src/kernel/tokens.js'
import { type ApiAnswer, requestOnce, requestUntilAnswered, withdrawUntilFinal } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import { mintTokens } from '../../sandbox/chain/faucet.js'
import { refundSuspense } from './operator.js'
import { requestAs, requestSteppedUp, type WorldCreator } from './people.js'
import { firstRate, type Stage } from './stage.js'
import { noteLanded, type PaidTip, type Truth } from './truth.js'

interface ActContext {
  readonly stage: Stage
  readonly truth: Truth
  readonly draw: Draw
  readonly day: number
  /** Whether nobody waits for a final answer any more. */
  readonly giveUp: () => boolean
}

/** Does something, and returns what came of it. A refusal is an ordinary end. */
type Act = (context: ActContext) => Promise<string>

const microPerUsdc = 1_000_000
/** Less than this is not worth the fee of a withdrawal. */
const leastUsdc = 0.5
const leastTakeOutMicro = 10_000
const payers = 40
const triesMax = 200
const lateMs = 1500
const transfersPath = '/creators/wallet/transfers'
const rateRange = [1350, 1850] as const

/** A tip in USDC or SOL with a real signature. Some supporters never report it. */
const crypto: Act = async ({ stage, truth, draw }) => {
  const creator = draw.oneOf(stage.creators)
  const supporter = draw.oneOf(stage.supporters)
  const sender = supporter.publicKey.toBase58()
  const isSol = draw.happens(0.1)
  const [inputTokenMint, tokenSymbol] = isSol ? [solMint, 'SOL'] : [usdc.mint, 'USDC']
  const amount = isSol ? draw.whole(10, 90) / 1000 : draw.whole(50, 2000) / 100
  const reported = draw.happens(0.9)
  const wanted = {
    creatorId: creator.userId,
    amount,
    inputTokenMint,
    sourceWalletAddress: sender,
    tokenSymbol,
  }
  const { body } = await requestUntilAnswered(stage.url, ['POST', '/payments/intent', wanted])
  const { intentId, transaction } = body as { intentId?: string; transaction?: string }
  if (intentId === undefined || transaction === undefined) return `refused: ${body['code']}`
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([supporter])
  const { chain } = stage.sandbox
  const txSignature = chain.submit(signed.serialize(), { skipPreflight: true })
  const payment = { txSignature, tipAmount: Math.round(amount * 10 ** (isSol ? 9 : 6)), tokenSymbol }
  if (!noteLanded(stage, truth, { txSignature, creator })) {
    truth.waiting.push({ txSignature, creator })
    truth.unreported.push(intentId)
    return 'waits'
  }
  // The answer took longer than the blockhash lives.
  if (!truth.landed.has(txSignature)) return 'not landed'
  if (!reported) {
    truth.unreported.push(intentId)
    return 'unreported'
  }
  const claim = { ...payment, senderWallet: sender, creatorWallet: creator.wallet, intentId }
  const answer = await requestUntilAnswered(stage.url, ['POST', '/chain/tips/create', claim])
  if (answer.status !== 200) return `report refused: ${answer.body['code']}`
  truth.claims.push(claim)
  return 'reported'
}

/** A supporter reports again what was answered 200. */
const repeat: Act = async ({ stage, truth, draw }) => {
  const claim = draw.one(truth.claims)
  if (claim === undefined) return 'nothing to repeat'
  const { status, body } = await requestUntilAnswered(stage.url, ['POST', '/chain/tips/create', claim])
  return status === 200 ? 'answered' : `REFUSED: ${body['code']}`
}

/** USDC that somebody sends to the custody wallet itself. Nobody reports it, so the finder finds it, at once or much later. */
const deposit: Act = async ({ stage, truth, draw }) => {
  const { userId, wallet } = draw.oneOf(stage.creators)
  const micro = BigInt(draw.whole(1, 5 * microPerUsdc))
  const signature = mintTokens(stage.sandbox.chain, wallet, usdc.mint, micro)
  truth.deposits.set(signature, { userId, wallet, micro })
  return 'landed'
}

const factors = { full: 1, short: 0.5, barely: 0.995, more: 1.5, twice: 1, never: 0 }
type Paying = keyof typeof factors

async function payNaira({ stage, truth, draw }: ActContext, how: Paying): Promise<string> {
  const creator = draw.oneOf(stage.creators)
  const payerEmail = `payer-${draw.whole(1, payers)}@example.com`
  const wanted = { creatorId: creator.userId, amount: draw.whole(1, 20), payerEmail, senderName: 'Bola' }
  const { body } = await requestUntilAnswered(stage.url, ['POST', '/payments/fiat/intent', wanted])
  const { intentId } = body as { intentId?: string }
  const { fiatpay } = stage.sandbox
  const charge = intentId === undefined ? undefined : fiatpay.charges.find(intentId)
  if (intentId === undefined || charge === undefined) return `refused: ${body['code']}`
  truth.naira.set(intentId, { userId: creator.userId, payerEmail })
  if (how === 'never') return how
  const kobo = Math.round(charge.amountKobo * factors[how])
  const paid = fiatpay.pay(charge, kobo)
  if (how === 'twice') fiatpay.pay(paid, kobo)
  if (how === 'full') truth.returnable.push({ intentId, creator })
  return how
}

/** A naira tip. Some payers pay too little, too much or twice, and some never. */
const naira: Act = (context) =>
  payNaira(context, context.draw.kind({ full: 90, short: 2, barely: 2, more: 2, twice: 2, never: 2 }))

/** A naira tip of which something waits in suspense. */
const mispay: Act = (context) => payNaira(context, context.draw.kind({ short: 1, more: 1, twice: 1 }))

/** A withdrawal of a share of the balance, or of all of it. */
const withdraw: Act = async ({ stage, truth, draw, giveUp }) => {
  const creator = draw.oneOf(stage.creators)
  const available = await availableOf(stage, creator)
  const share = draw.happens(0.6) ? 1 : draw.next()
  const amount = Math.floor(available * share * 100) / 100
  if (amount < leastUsdc) return 'nothing to withdraw'
  const answer = await withdrawUntilFinal(stage.url, creator, amount, giveUp)
  if (answer !== undefined) truth.withdrawals.push({ ...answer, userId: creator.userId })
  return answer?.status === 200 ? 'accepted' : `${answer?.status} ${answer?.error}`
}

/** One or two dollars. Where a balance is too small, tips are on their way to another creator. */
const withdrawSome: Act = async ({ stage, truth, draw, giveUp }) => {
  for (let tries = 0; tries < triesMax; tries++) {
    const creator = draw.oneOf(stage.creators)
    const answer = await withdrawUntilFinal(stage.url, creator, 1 + draw.whole(0, 100) / 100, giveUp)
    if (answer?.reference === undefined) continue
    truth.withdrawals.push({ ...answer, userId: creator.userId })
    return 'accepted'
  }
  throw new Error('no withdrawal is accepted')
}

/**
 * A take-out of USDC, signed by the payout wallet and the service, and submitted by the browser. Some browsers are closed before they
 * submit. A refusal is an ordinary end.
 */
const take: Act = async ({ stage, draw }) => {
  const creator = draw.oneOf(stage.creators)
  const submitting = draw.kind({ once: 12, twice: 2, late: 2, never: 3 })
  const micro = Math.floor((await availableOf(stage, creator)) * draw.next() * microPerUsdc)
  if (micro < leastTakeOutMicro) return 'nothing to take out'
  const wanted = { mint: usdc.mint, amount: displayText(BigInt(micro), usdc.decimals) }
  const answer = await requestSteppedUp(stage, creator, ['POST', transfersPath, wanted])
  const prepared = transferOf(answer)
  if (prepared === undefined) return `refused: ${answer.body['code']}`
  const parsed = VersionedTransaction.deserialize(Buffer.from(prepared.transaction ?? '', 'base64'))
  parsed.sign([creator.holder])
  const transaction = Buffer.from(parsed.serialize()).toString('base64')
  const path = `${transfersPath}/${prepared.id}/sign`
  const handedIn = await requestAs(stage, creator, ['POST', path, { transaction }])
  const complete = transferOf(handedIn)?.transaction
  if (complete == null) return `not signed: ${handedIn.body['code'] ?? 'no answer came'}`
  if (submitting === 'never') return 'signed'
  if (submitting === 'late') await sleep(lateMs)
  for (let times = submitting === 'twice' ? 2 : 1; times > 0; times--)
    stage.sandbox.chain.submit(Buffer.from(complete, 'base64'), { skipPreflight: true })
  return 'submitted'
}

function transferOf({ status, body }: ApiAnswer): { id: string; transaction: string | null } | undefined {
  return status === 200 ? (body['transfer'] as { id: string; transaction: string | null }) : undefined
}

/** A creator gives a naira tip back, or half of it. */
const refund: Act = async ({ stage, truth, draw }) => {
  const tip = await takeReturnable(stage, truth, draw)
  if (tip === undefined) return 'no tip'
  const path = `/creators/tips/${tip.intentId}/refund`
  const body = draw.happens(0.3) ? { amountUSD: 0.5 } : {}
  const headers = { cookie: tip.creator.cookie, 'idempotency-key': tip.intentId }
  const answer = await requestUntilAnswered(stage.url, ['POST', path, body], headers)
  if (answer.status !== 200) return `refused: ${answer.body['code']}`
  truth.refunds.push((answer.body['refund'] as { id: string }).id)
  return 'accepted'
}

/** An operator has a payment go back that waits in suspense, sometimes with a command that is killed before. */
const refundWaiting: Act = async ({ stage, draw }) => {
  const waiting: string[] = await stage
    .db('suspense_items')
    .where({ state: 'waiting' })
    .pluck('provider_transaction')
  const payment = draw.one(waiting)
  if (payment === undefined) return 'nothing in suspense'
  await refundSuspense(stage, payment, draw.happens(0.5) ? draw.whole(1, 1e6) : undefined)
  return 'asked for'
}

/** A payer disputes a payment, or half of it. The bank decides on one of the next days: of two disputes one is lost. */
const dispute: Act = async ({ stage, truth, draw, day }) => {
  const { fiatpay } = stage.sandbox
  const tip = await takeReturnable(stage, truth, draw)
  const charge = tip === undefined ? undefined : fiatpay.charges.find(tip.intentId)
  const payment = charge?.payments[0]
  if (charge === undefined || payment === undefined) return 'no tip'
  const kobo = draw.happens(0.8) ? payment.amountKobo : Math.ceil(payment.amountKobo / 2)
  const { id } = fiatpay.openDispute(charge, payment, kobo)
  const outcome = truth.disputes.length % 2 === 0 ? 'lost' : 'won'
  truth.disputes.push({ id, day: day + draw.whole(0, 2), outcome })
  return `to be ${outcome}`
}

/** The rate of the naira moves by at most 3 %. */
const rate: Act = async ({ stage, draw }) => {
  const before = await requestOnce(stage.sandbox.url, ['GET', '/rates/USD'])
  const { NGN = firstRate } = (before.body['rates'] ?? {}) as { NGN?: number }
  const [least, most] = rateRange
  const moved = NGN * (0.97 + 0.06 * draw.next())
  stage.sandbox.rates.set({ NGN: Math.round(100 * Math.min(most, Math.max(least, moved))) / 100 })
  return 'moved'
}

/** The rate of a dollar's tip in naira, a creator's list, and the API's document. */
const read: Act = async ({ stage, draw }) => {
  const wallet = draw.oneOf(stage.creators).wallet
  const paths = [`/chain/tips?address=${wallet}`, '/payments/fiat/rate?amount=10', '/openapi.json']
  const { status } = await requestOnce(stage.url, ['GET', draw.oneOf(paths)])
  return String(status)
}

const acts = {
  crypto,
  repeat,
  deposit,
  naira,
  mispay,
  withdraw,
  withdrawSome,
  take,
  refund,
  refundWaiting,
  dispute,
  rate,
  read,
} satisfies Record<string, Act>
export type ActName = keyof typeof acts

/** Does one act and counts what came of it. */
export async function act(name: ActName, context: ActContext): Promise<void> {
  const outcome = `${name}: ${await acts[name](context)}`
  const { counts } = context.truth
  counts[outcome] = (counts[outcome] ?? 0) + 1
}

/** The bank decides the disputes whose day has come; with `all` also the others. */
export function decideDisputes(
  { sandbox: { fiatpay } }: Stage,
  truth: Truth,
  day: number,
  all: boolean,
): void {
  for (const one of truth.disputes) {
    const opened = fiatpay.disputes.get(one.id)
    if (opened === undefined || opened.status === 'resolved' || (!all && one.day > day)) continue
    if (one.outcome === 'won') fiatpay.winDispute(opened)
    else fiatpay.loseDispute(opened, 'auto-accepted', opened.amountKobo)
  }
}

/** A tip that the service has settled, and which is left out from now on. */
async function takeReturnable(
  { db }: Stage,
  { returnable }: Truth,
  draw: Draw,
): Promise<PaidTip | undefined> {
  const ids = returnable.map(({ intentId }) => intentId)
  const settled: string[] = await db('fiat_payments').whereIn('intent_id', ids).pluck('intent_id')
  const tip = draw.one(returnable.filter(({ intentId }) => settled.includes(intentId)))
  if (tip !== undefined) returnable.splice(returnable.indexOf(tip), 1)
  return tip
}

async function availableOf(stage: Stage, creator: WorldCreator): Promise<number> {
  const { body } = await requestAs(stage, creator, ['GET', '/creators/balance'])
  return (body['balance'] as { availableUSDC?: number } | undefined)?.availableUSDC ?? 0
}
