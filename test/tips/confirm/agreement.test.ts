import test, { type ExecutionContext } from 'ava'
import type { compose } from '../../../src/compose.js'
import { findCreditGaps } from '../../../src/tips/confirm/find-uncredited.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { createPaidIntents, makeTipsDue, type PaidIntent } from '../../helpers/make/intents.js'
import { createSupporter } from '../../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { type SandboxProxy, startSandboxProxy } from '../../helpers/proxies/sandbox-proxy.js'
import { as, composeAs } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400 })

/** A verifier with two endpoints: one on the chain, and one that the test can make deny it. */
async function twoEndpoints(t: ExecutionContext, agreeAboveUsd: string) {
  const other = await startSandboxProxy(world().sandbox.url)
  const env = {
    ...world().env,
    SOLANA_RPC_URLS: `${world().sandbox.url},${other.url}`,
    AGREE_ABOVE_USD: agreeAboveUsd,
  }
  const services = composeAs('verifier', env)
  t.teardown(async () => {
    await services.close()
    await other.close()
  })
  return { other, services, batch: createVerifierBatch(as('verifier', services)) }
}

/** A recorded tip of 2 dollars, of which the creator receives 1.96, final on the chain. */
async function finalTip(creator: TestCreator): Promise<PaidIntent> {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const [paid] = (await createPaidIntents(world(), supporter, [creator.wallet], { symbol: 'USDC' })) as [
    PaidIntent,
  ]
  await recordTip(world(), paid.claim)
  world().sandbox.chain.advance(40)
  return paid
}

async function balanceOf({ session }: TestCreator): Promise<unknown> {
  const answer = await world().request<{ balance: unknown }>('GET', '/creators/balance', { session })
  return answer.body.balance
}

const pending = { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 }
const available = { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 }

/** The endpoint does not know any transaction. */
function deny(other: SandboxProxy): void {
  other.alterReply = (method, _params, reply) =>
    method === 'getTransaction' ? { id: reply.id, result: null } : reply
}

interface Meta {
  readonly postTokenBalances: { uiTokenAmount: { amount: string } }[]
}

/** The endpoint shows that a micro-dollar less arrived everywhere. */
function showLess(other: SandboxProxy): void {
  other.alterReply = (method, _params, reply) => {
    if (method !== 'getTransaction' || reply.result === null) return reply
    const { meta } = reply.result as { meta: Meta }
    for (const { uiTokenAmount } of meta.postTokenBalances)
      uiTokenAmount.amount = String(BigInt(uiTokenAmount.amount) - 1n)
    return reply
  }
}

const alarms = (services: ReturnType<typeof compose>) => countAlerts({ services }, 'rpc_disagrees')

for (const [lie, how] of [
  ['a finalized transaction that the other does not know', deny],
  ['a larger amount than the other', showLess],
] as const)
  test.serial(`one endpoint of two reports ${lie}: the credit stays pending, and that alarms`, async (t) => {
    const { other, services, batch } = await twoEndpoints(t, '1.95')
    const creator = await registerCreator(world())
    how(other)
    const { signature } = await finalTip(creator)
    const isConfirmed = async () => (await readTipRow(world(), signature)).status === 'confirmed'
    await runBatchUntil(batch, 'it is confirmed', isConfirmed)
    t.deepEqual(await balanceOf(creator), pending, 'it was final at its confirmation')
    await makeTipsDue(world())
    await batch()
    t.deepEqual(await balanceOf(creator), pending)
    t.is((await readTipRow(world(), signature)).finalized_at, null)
    t.is(await alarms(services), 0, 'the other endpoint may be some seconds behind')

    await setRows(world(), 'tips', { id: signature }, { confirmed_at: new Date(Date.now() - 600_000) })
    await makeTipsDue(world())
    await batch()
    t.deepEqual(await balanceOf(creator), pending)
    t.is(await alarms(services), 1)
    t.truthy((await readTipRow(world(), signature)).due_at, 'it is looked at again')

    other.intervene = () => 'close'
    await makeTipsDue(world())
    await batch()
    t.deepEqual(await balanceOf(creator), pending, 'no answer is no agreement')

    Object.assign(other, { alterReply: undefined, intervene: undefined })
    await makeTipsDue(world())
    await batch()
    t.deepEqual(await balanceOf(creator), available)
  })

test.serial('a credit that is not above AGREE_ABOVE_USD needs one endpoint only', async (t) => {
  const { other, batch } = await twoEndpoints(t, '1.96')
  const creator = await registerCreator(world())
  deny(other)
  const { signature } = await finalTip(creator)
  const isFinal = async () => (await readTipRow(world(), signature)).finalized_at !== null
  await runBatchUntil(batch, 'it is final', isFinal)
  t.deepEqual(await balanceOf(creator), available)
})

test.serial('a missing credit is final for the operators only when every endpoint agrees', async (t) => {
  const { other, services, batch } = await twoEndpoints(t, '1')
  const creator = await registerCreator(world())
  const { signature } = await finalTip(creator)
  const isFinal = async () => (await readTipRow(world(), signature)).finalized_at !== null
  await runBatchUntil(
    async () => {
      await makeTipsDue(world())
      return batch()
    },
    'it is final',
    isFinal,
  )
  await world().db.raw('alter table ledger_transfers disable trigger user')
  await setRows(world(), 'ledger_transfers', { idem: `tip:${signature}` }, { idem: `lost:${signature}` })
  await world().db.raw('alter table ledger_transfers enable trigger user')
  const finalGaps = async () => {
    const { gaps } = await findCreditGaps(as('clock', services), 1, undefined)
    return gaps.filter((gap) => gap.signature === signature).map(({ final }) => final)
  }
  t.deepEqual(await finalGaps(), [true])
  deny(other)
  t.deepEqual(await finalGaps(), [false])
})
