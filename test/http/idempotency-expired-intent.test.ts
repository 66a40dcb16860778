import { randomUUID } from 'node:crypto'
import test from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 0 })
/** Slots for which a transaction can land. */
const lifeSlots = 150

interface IntentBody {
  readonly success: true
  readonly intentId: string
  readonly lastValidBlockHeight: number
}

test('an intent past its last valid block height is replaced once under its idempotency key', async (t) => {
  const { request, services, sandbox, db } = world()
  const headers = { 'idempotency-key': randomUUID() }
  const body = {
    creatorId: encodeBase58(Buffer.alloc(32, 201)),
    amount: 5,
    inputTokenMint: tokenBySymbol('USDC')?.mint,
    sourceWalletAddress: encodeBase58(Buffer.alloc(32, 202)),
  }
  const send = () => request<IntentBody>('POST', '/payments/intent', { body, headers })

  const first = await send()
  const { intentId, lastValidBlockHeight } = first.body
  sandbox.chain.advance(lastValidBlockHeight - (await services.chain.blockHeight()))
  const last = await send()
  t.is(last.body.intentId, intentId, 'at its last valid height it can still land')

  sandbox.chain.advance(lifeSlots)
  const answers = await Promise.all(Array.from({ length: 20 }, send))
  const served = answers.filter(({ status }) => status === 200)
  const [created = '', ...others] = new Set(served.map((answer) => answer.body.intentId))
  t.not(created, '')
  t.not(created, intentId)
  t.deepEqual(others, [])
  const heights = served.map((answer) => answer.body.lastValidBlockHeight)
  t.true(Math.min(...heights) > lastValidBlockHeight, 'the new intent can land')
  for (const { status } of answers) t.true(status === 200 || status === 409, `${status}`)
  t.is((await db('payment_intents')).length, 2)
  const again = await send()
  t.is(again.body.intentId, created)
  t.is(again.headers['idempotency-hit'], 'true')
})
