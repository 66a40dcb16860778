import { randomUUID } from 'node:crypto'
import { Draw } from '../acts/draw.js'
import { requestUntilAnswered } from '../client.js'
import { act } from '../month/acts.js'
import type { MonthCreator } from '../month/people.js'
import type { Stage } from '../month/stage.js'
import type { Truth } from '../month/truth.js'

/** What people do in one part of the run. */
export interface Life {
  readonly crypto: number
  readonly naira: number
  readonly withdrawals: number
  readonly takeOuts: number
}

/** What creators and payers wrote down. */
export interface OwnNotes {
  readonly withdrawals: Map<string, string>
  readonly tips: Map<string, string>
}

export interface LifeContext {
  readonly stage: Stage
  readonly truth: Truth
  readonly notes: OwnNotes
  readonly seed: number
  readonly report: (text: string) => void
}

type Name = keyof Life
const concurrency = 6
const sayMs = 10_000
const leastUsdc = 1
/** A balance that is short now has tips on their way. */
const triesMax = 200

/** Does so many of each, in an order that the seed draws, several at a time. */
export async function live(context: LifeContext, life: Life): Promise<void> {
  const { seed, report } = context
  const draw = new Draw(seed)
  const names: Name[] = []
  for (const name of ['crypto', 'naira', 'withdrawals', 'takeOuts'] as const)
    for (let n = 0; n < life[name]; n++) names.splice(draw.whole(0, names.length), 0, name)
  let next = 0
  let said = Date.now()
  const doNext = async (): Promise<void> => {
    while (next < names.length) {
      const n = next++
      context.stage.throwFailure()
      await doOne(context, names[n] as Name, new Draw(seed + 1000 + n))
      if (Date.now() - said < sayMs) continue
      said = Date.now()
      report(`${n} of ${names.length} acts`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, doNext))
}

async function doOne({ stage, truth, notes }: LifeContext, name: Name, draw: Draw): Promise<void> {
  if (name === 'crypto') await act('crypto', { stage, truth, draw, day: 0 })
  else if (name === 'takeOuts') await act('take', { stage, truth, draw, day: 0 })
  else if (name === 'naira') await payNaira(stage, notes, draw)
  else await withdraw(stage, notes, draw)
}

const oneOf = (stage: Stage, draw: Draw): MonthCreator => draw.one(stage.creators) as MonthCreator

async function payNaira(stage: Stage, { tips }: OwnNotes, draw: Draw): Promise<void> {
  const { userId } = oneOf(stage, draw)
  const wanted = { creatorId: userId, amount: draw.whole(2, 20) }
  const { body } = await requestUntilAnswered(stage.url, ['POST', '/payments/fiat/intent', wanted])
  const intentId = String(body['intentId'])
  const charge = stage.sandbox.fiatpay.charges.find(intentId)
  if (charge === undefined) throw new Error(`naira: ${JSON.stringify(body)}`)
  tips.set(intentId, userId)
  stage.sandbox.fiatpay.pay(charge, charge.amountKobo)
}

/** One that is accepted: another creator is tried when a balance is too small. Each creator has one bank account. */
async function withdraw(stage: Stage, notes: OwnNotes, draw: Draw): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) {
    const creator = oneOf(stage, draw)
    const reference = await askForMoney(stage, creator, leastUsdc + draw.whole(0, 100) / 100)
    if (reference === undefined) continue
    notes.withdrawals.set(reference, creator.userId)
    return
  }
  throw new Error('no withdrawal is accepted')
}

/** Undefined: the balance is too small. */
export async function askForMoney(
  { url, creators }: Stage,
  { userId, cookie }: MonthCreator,
  amountUSDC: number,
): Promise<string | undefined> {
  const number = creators.findIndex((creator) => creator.userId === userId)
  const account = { bankCode: '058', accountNumber: String(8_000_000_000 + number), accountName: 'Ada Obi' }
  const headers = { cookie, 'idempotency-key': randomUUID() }
  const { status, body } = await requestUntilAnswered(
    url,
    ['POST', '/payouts/withdraw', { ...account, amountUSDC }],
    headers,
  )
  if (status === 200) return String(body['reference'])
  if (body['code'] === 'insufficient_balance') return undefined
  throw new Error(`withdraw: ${status} ${JSON.stringify(body)}`)
}
