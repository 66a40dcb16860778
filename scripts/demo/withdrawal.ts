import { strict as assert } from 'node:assert'
import { type Json, post, until } from './api.js'
import { type Balance, callAsCreator, type DemoContext, readBalance } from './context.js'

/** More than the tips in naira, so that it pays for USDC in the custody wallet; what the first USDC tip covers. */
const amountUSDC = 22
const account = { bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' }
const refusalText = 'Account is closed'
const timeoutMs = 30_000
const finalMs = 120_000
const states = ['pending', 'submitted', 'processing', 'completed'] as const

/** Makes a withdrawal and follows it in the history until it is completed, then one that the provider refuses. */
export async function withdrawNaira(context: DemoContext): Promise<void> {
  try {
    await withdrawAndComplete(context)
    await withdrawAndRefuse(context)
  } finally {
    await setProviderMode(context, { transfers: 'auto' })
  }
}

async function withdrawAndComplete(context: DemoContext): Promise<void> {
  const { sandbox, say } = context
  context.say(`waits until ${amountUSDC} USDC of tips are final`)
  await until('enough tips are final', finalMs, async () => {
    const { availableUSDC } = await readBalance(context)
    return availableUSDC >= amountUSDC ? true : undefined
  })
  // In manual mode the transfer waits at the provider, so that every state can be observed.
  await setProviderMode(context, { transfers: 'manual' })
  const before = await readBalance(context)
  const body = { ...account, amountUSDC }
  const answer = await callAsCreator(context, 'POST', '/payouts/withdraw', body)
  const { reference, status, amountNGN, systemFeeNGN } = answer
  assert.equal(status, 'submitted')
  say(
    `withdrew ${amountUSDC} USDC: ${reference} is ${status}, NGN ${amountNGN} after a fee of NGN ${systemFeeNGN}`,
  )
  await untilStatus(context, String(reference), 'processing')
  await post(`${sandbox}/dev/fiatpay/transfers/${reference}`, { outcome: 'success' })
  const record = await untilStatus(context, String(reference), 'completed')
  const moments = [record['createdAt'], record['submittedAt'], record['processingAt'], record['completedAt']]
  const times = moments.map((moment) => Date.parse(String(moment)))
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  say(
    `the history shows ${states.map((state, n) => `${state} at ${String(moments[n]).slice(11, 23)}`).join(', ')}`,
  )
  const after = await readBalance(context)
  assert.equal(totalMicro(before) - totalMicro(after), amountUSDC * 1e6)
  assert.equal(after.heldUSDC, before.heldUSDC)
}

async function withdrawAndRefuse(context: DemoContext): Promise<void> {
  const { web, creator, say } = context
  await setProviderMode(context, { transfers: 'reject', rejectText: refusalText })
  const before = await readBalance(context)
  const response = await fetch(`${web}/payouts/withdraw`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: creator.cookie },
    body: JSON.stringify({ ...account, amountUSDC: before.availableUSDC }),
  })
  const { error } = (await response.json()) as Json
  assert.deepEqual([response.status, error], [502, refusalText])
  const after = await readBalance(context)
  assert.equal(totalMicro(after), totalMicro(before))
  assert.equal(after.heldUSDC, before.heldUSDC)
  say(`withdrew the rest: the provider refuses it, the answer is 502 "${error}"; nothing is taken or held`)
}

/** Tips become final meanwhile, so that pending money becomes available. */
function totalMicro({ availableUSDC, pendingUSDC, heldUSDC }: Balance): number {
  return Math.round((availableUSDC + pendingUSDC + heldUSDC) * 1e6)
}

/** Waits until the withdrawal is in this state. Returns it. */
function untilStatus(context: DemoContext, reference: string, state: string): Promise<Json> {
  return until(`the withdrawal is ${state}`, timeoutMs, async () => {
    const path = `/payouts/history?reference=${reference}`
    const { payouts } = await callAsCreator(context, 'GET', path)
    return (payouts as Json[]).find(({ status }) => status === state)
  })
}

async function setProviderMode({ sandbox }: DemoContext, mode: Json): Promise<void> {
  await post(`${sandbox}/dev/fiatpay/mode`, mode)
}
