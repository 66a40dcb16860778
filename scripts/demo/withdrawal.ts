import { strict as assert } from 'node:assert'
import { callApi, callAsOwner, type Json, until } from './api.js'
import { balanceOf } from './balance.js'
import type { Stage } from './stage.js'

const amountUSDC = 10
const account = { bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' }
const refusalText = 'Account is closed'
const patienceMs = 30_000
const states = ['pending', 'submitted', 'processing', 'completed'] as const

/** A withdrawal watched in the history until the money has arrived, and one that the provider refuses. */
export async function withdrawNaira(stage: Stage): Promise<void> {
  try {
    await paidOut(stage)
    await refused(stage)
  } finally {
    await behave(stage, { transfers: 'auto' })
  }
}

async function paidOut(stage: Stage): Promise<void> {
  const { web, sandbox, creator, say } = stage
  // It waits at the provider until it is told, so that every state can be seen.
  await behave(stage, { transfers: 'manual' })
  const before = await balanceOf(stage)
  const wish = { ...account, amountUSDC }
  const answer = await callAsOwner(web, 'POST', '/payouts/withdraw', creator.cookie, wish)
  const { reference, status, amountNGN, systemFeeNGN } = answer
  assert.equal(status, 'submitted')
  say(
    `withdrew ${amountUSDC} USDC: ${reference} is ${status}, NGN ${amountNGN} after a fee of NGN ${systemFeeNGN}`,
  )
  await reached(stage, String(reference), 'processing')
  await callApi(sandbox, 'POST', `/dev/fiatpay/transfers/${reference}`, { outcome: 'success' })
  const record = await reached(stage, String(reference), 'completed')
  const moments = [record['createdAt'], record['submittedAt'], record['processingAt'], record['completedAt']]
  const times = moments.map((moment) => Date.parse(String(moment)))
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  say(
    `the history shows ${states.map((state, n) => `${state} at ${String(moments[n]).slice(11, 23)}`).join(', ')}`,
  )
  const { availableUSDC, heldUSDC } = await balanceOf(stage)
  assert.deepEqual([availableUSDC, heldUSDC], [before.availableUSDC - amountUSDC, before.heldUSDC])
}

async function refused(stage: Stage): Promise<void> {
  const { web, creator, say } = stage
  await behave(stage, { transfers: 'reject', rejectText: refusalText })
  const before = await balanceOf(stage)
  const response = await fetch(`${web}/payouts/withdraw`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: creator.cookie },
    body: JSON.stringify({ ...account, amountUSDC: before.availableUSDC }),
  })
  const { error } = (await response.json()) as Json
  assert.deepEqual([response.status, error], [502, refusalText])
  const after = await balanceOf(stage)
  assert.deepEqual(after, before)
  say(
    `withdrew all the rest: the provider refuses it, 502 "${error}"; the balance is whole: ${after.availableUSDC} USDC`,
  )
}

/** Resolves with the record once it is in this state. */
function reached({ web, creator }: Stage, reference: string, state: string): Promise<Json> {
  return until(`the withdrawal is ${state}`, patienceMs, async () => {
    const path = `/payouts/history?reference=${reference}`
    const { payouts } = await callAsOwner(web, 'GET', path, creator.cookie)
    return (payouts as Json[]).find(({ status }) => status === state)
  })
}

async function behave({ sandbox }: Stage, mode: Json): Promise<void> {
  await callApi(sandbox, 'POST', '/dev/fiatpay/mode', mode)
}
