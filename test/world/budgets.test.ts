import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { usdc } from '../../src/kernel/tokens.js'
import { createFollowBatch } from '../../src/outgoing/follow.js'
import { createSendBatch } from '../../src/outgoing/send.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { withdrawalKind } from '../../src/withdrawals/withdrawal-kind.js'
import { logIn, registerCreator, registerPerson } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settlementBatch } from '../helpers/make/fiat/fiat-tips.js'
import { createIntent, makeTipsDue } from '../helpers/make/intents.js'
import { codeInQueue } from '../helpers/make/sign-in/emailed-codes.js'
import { createSupporter } from '../helpers/make/supporter.js'
import { recordTip, someClaim } from '../helpers/make/tips.js'
import {
  createWithdrawal,
  creatorWithBalance,
  makeWithdrawalsDue,
  readWithdrawalRow,
  sendDuePayouts,
  sendingKind,
} from '../helpers/make/withdrawals.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'

/** Requests do not wait for the worker: while one waits, it reads its row after each notification. */
const world = useWorld(test, {
  chain: true,
  slotMs: 0,
  fiat: true,
  proxies: true,
  env: { CONFIRM_ACCOUNTS: 'new' },
})

/** What each operation may cost: the table of docs/sizing.md. */
const budgets = new Map(
  [
    ...readFileSync('docs/sizing.md', 'utf8').matchAll(/^\| (.+?) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm),
  ].map(([, operation = '', ...counts]) => [operation, counts.map(Number)]),
)
/** Readings of prices and rates serve for seconds, as blockhashes do. */
const ofReadings = /^(prices\.store|rates\.(window|age)|insert into "rates")/
const confirmedSlots = 3
const finalSlots = 40
const measured = new Set<string>()

/** Counts what an operation costs, and compares it with its budget. */
async function spend<Result>(
  t: ExecutionContext,
  operation: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { fiat, proxies, sandbox } = world()
  const calls = () =>
    [
      sandbox.calls.httpRequests - sandbox.calls.of('getLatestBlockhash'),
      fiat.fiatpay.calls.httpRequests,
    ] as const
  const [node, provider] = calls()
  let result: Result | undefined
  const trips = (
    await proxies.sql.tripsDuring(async () => {
      result = await work()
    })
  )
    .map((trip) => trip.filter((name) => !ofReadings.test(name)))
    .filter(({ length }) => length > 0)
  const [nodeAfter, providerAfter] = calls()
  const counted = [trips.flat().length, trips.length, nodeAfter - node, providerAfter - provider]
  measured.add(operation)
  t.deepEqual(
    counted,
    budgets.get(operation),
    `${operation}: ${trips.map((trip) => trip.join(' + ')).join(', ')}`,
  )
  return result as Result
}

/** The second one: what a process remembers, it remembers of the first. */
async function spendAgain<Result>(
  t: ExecutionContext,
  operation: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await work()
  return spend(t, operation, work)
}

// Nothing is done that a test does not do.
test.beforeEach(() => world().fiat.fiatpay.webhooks.setUrl(undefined))

test.serial('an account', async (t) => {
  await spendAgain(t, 'register', () => registerPerson(world()))
  const ada = await registerPerson(world())
  await spendAgain(t, 'log in', () => logIn(world(), ada))
})

test.serial('a tip in crypto', async (t) => {
  const { request, sandbox, services } = world()
  const { wallet } = await registerCreator(world())
  const supporter = createSupporter(sandbox, ['USDC'])
  const from = { sourceWalletAddress: supporter.wallet, inputTokenMint: usdc.mint }
  const make = () => createIntent(request, { creatorId: wallet, amount: 1, ...from })
  const { transaction } = await spendAgain(t, 'make an intent', make)
  const claim = {
    creatorWallet: wallet,
    senderWallet: supporter.wallet,
    tipAmount: 1_000_000,
    tokenSymbol: 'USDC',
    txSignature: supporter.pay(transaction),
  }
  sandbox.chain.advance(confirmedSlots)
  const batch = createVerifierBatch(as('verifier', services))
  await batch()
  await spendAgain(t, 'record a tip', () => recordTip(world(), someClaim()))
  await world().db('tips').update({ due_at: null })
  await recordTip(world(), claim)
  // What is due next is known, so nothing is taken again at once.
  const verify = async () => t.like(await batch(), { taken: 1, full: false })
  await spend(t, 'verify and credit a tip', verify)
  const { due_at: dueAt } = await world().db('tips').where({ id: claim.txSignature }).first('due_at')
  t.is(dueAt.getMilliseconds(), 0, 'the tips of a second are looked at together')
  sandbox.chain.advance(finalSlots)
  await makeTipsDue(world())
  await spend(t, 'finalize a tip', verify)
})

test.serial('a tip in naira', async (t) => {
  const creator = await registerCreator(world())
  const make = () => createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
  const first = await make()
  const second = await spend(t, 'make a naira intent', make)
  const batch = settlementBatch(world())
  const pay = async ({ intentId }: typeof first) => {
    payFiatIntent(world(), intentId)
    const { db } = world()
    await db('fiat_intents')
      .where({ id: intentId })
      .update({ due_at: new Date(0) })
  }
  await pay(first)
  await batch()
  await pay(second)
  await spend(t, 'settle a naira intent', async () => t.is((await batch()).taken, 1))
})

test.serial('a withdrawal', async (t) => {
  const { services, request } = world()
  const ada = await creatorWithBalance(world(), 100)
  const ask = (accountNumber: string) => createWithdrawal(world(), ada, { amountUSDC: 5, accountNumber })
  const send = createSendBatch(as('payouts', services), sendingKind(world()))
  const follow = createFollowBatch(as('reconciler', services), withdrawalKind(as('reconciler', services)))
  const payAtProvider = (reference: string) => {
    const { fiatpay } = world().fiat
    const transfer = fiatpay.transfers.find(reference)
    if (transfer === undefined) throw new Error('the provider has no such transfer')
    fiatpay.setOutcome(transfer, 'success')
  }
  const first = '0123456789'
  const { reference: before } = await ask(first)
  await sendDuePayouts(world())
  payAtProvider(before)
  await makeWithdrawalsDue(world())
  await follow()
  await world().db('withdrawals').update({ due_at: null })
  const known = await spend(t, 'ask for a withdrawal to a known account', () => ask(first))
  await spend(t, 'send a withdrawal', async () => t.is((await send()).taken, 1))
  payAtProvider(known.reference)
  await makeWithdrawalsDue(world())
  await spend(t, 'settle a withdrawal', async () => t.is((await follow()).taken, 1))
  t.is((await readWithdrawalRow(world(), known.reference)).status, 'completed')
  const { reference } = await spend(t, 'ask for a withdrawal to a new account', () => ask('1111111111'))
  const code = await codeInQueue(world(), 'withdrawal-code', ada.email)
  await spend(t, 'confirm a withdrawal', async () => {
    const answer = await request('POST', `/payouts/${reference}/confirm`, {
      session: ada.session,
      body: { code },
    })
    t.is(answer.status, 200)
  })
})

test.serial.after('each budget is of an operation', (t) => {
  t.deepEqual(
    [...budgets.keys()].filter((operation) => !measured.has(operation)),
    [],
  )
})
