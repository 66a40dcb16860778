import test from 'ava'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { LocalChain } from '../../scripts/sandbox/chain/local-chain.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { createIntent, makeTipsDue } from '../helpers/make/intents.js'
import { recordTip, runBatchUntil } from '../helpers/make/tips.js'
import type { RpcReply } from '../helpers/proxies/sandbox-proxy.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import type { RandomSource } from './run-attack.js'
import { type Attack, type AttackCase, runAttack, variants } from './run-attack.js'
import { type AttackSetup, shareAttackSetup, sol, someUnits, transfer, usdc } from './setup.js'

const world = useWorld(test, { chain: true, proxies: true })
const sharedSetup = shareAttackSetup(world)

test.afterEach.always(() => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
  world().sandbox.chain.releaseControls()
})

/** A transfer to a creator and its true claim. */
function paid({ supporter, creators }: AttackSetup, random: RandomSource) {
  const { wallet } = random.pick(creators)
  const token = random.pick([sol, usdc])
  const units = someUnits()
  const claim = {
    creatorWallet: wallet,
    senderWallet: supporter.wallet,
    tipAmount: units,
    tokenSymbol: token.symbol,
  }
  const send = () => supporter.send(transfer(token, supporter.wallet, wallet, units))
  return { claim, send, tip: { recipients: [wallet], mint: token.mint } }
}

const attacks: Record<string, Attack> = {
  'A25: a signature of another cluster': ({ creators }, random) => {
    const other = new LocalChain({
      seed: `other ${random.below(10 ** 6)}`,
      slotMs: 100,
      confirmLag: 1,
      finalizeLag: 32,
    })
    const faucet = other.keypair('faucet')
    other.setAccount(faucet.publicKey.toBase58(), {
      lamports: 10n ** 15n,
      owner: '11111111111111111111111111111111',
      data: Buffer.alloc(0),
      executable: false,
    })
    const { wallet } = random.pick(creators)
    const signature = requestAirdrop(other, wallet, BigInt(someUnits()))
    other.close()
    return {
      signature,
      claims: [{ creatorWallet: wallet, senderWallet: faucet.publicKey.toBase58() }],
      waits: true,
    }
  },
  'A26: only processed, dropped or expired': (setup, random) => {
    const { chain } = world().sandbox
    const { claim, send } = paid(setup, random)
    const way = random.below(3)
    chain.holdLanding(way > 0)
    const signature = send()
    if (way === 0) chain.holdSignature(signature, 'processed')
    // Either its blockhash expires, or the node drops it.
    if (way === 1) chain.advance(200)
    else chain.dropMempool()
    chain.holdLanding(false)
    return { signature, claims: [claim], waits: true }
  },
  'A27: an intent’s transaction that lands a day late': async ({ supporter, creators }, random) => {
    const { wallet } = random.pick(creators)
    const fields = { creatorId: wallet, inputTokenMint: usdc.mint, sourceWalletAddress: supporter.wallet }
    const units = someUnits()
    await freshBlockhash()
    const intent = await createIntent(world().request, { ...fields, amount: units / 1e6 })
    const { chain } = world().sandbox
    chain.holdLanding(true)
    const signature = supporter.pay(intent.transaction)
    await recordTip(world(), {
      creatorWallet: wallet,
      senderWallet: supporter.wallet,
      tipAmount: units,
      tokenSymbol: 'USDC',
      txSignature: signature,
    })
    await createVerifierBatch(as('verifier', world().services))()
    const long = new Date(Date.now() - 23.5 * 3_600_000)
    await world().db('tips').where({ id: signature }).update({ recorded_at: long })
    await world().db('payment_intents').where({ id: intent.intentId }).update({ created_at: long })
    chain.holdLanding(false)
    return { signature, claims: [], tip: { recipients: [wallet], mint: usdc.mint } }
  },
}

/** After the chain has advanced far, the service needs up to a second to use a recent blockhash. */
async function freshBlockhash(): Promise<void> {
  const { sandbox, services } = world()
  await until('the service uses a recent blockhash', async () => {
    const { blockhash } = await services.chain.latestBlockhash()
    return sandbox.chain.clock.slotOfRecentHash(blockhash) !== undefined
  })
}

for (const [name, attack] of Object.entries(attacks))
  test.serial(`${name}: no wrong outcome`, async (t) => runAttack(t, await sharedSetup(), attack))

test.serial('A28: old transfers between others are not tips, also with a claim', async (t) => {
  const aged = new Set<string>()
  world().proxies.outside.alterReply = (method, [signature], reply) => {
    const result = reply.result as { blockTime?: number } | null
    if (method !== 'getTransaction' || !aged.has(String(signature)) || typeof result?.blockTime !== 'number')
      return reply
    return { ...reply, result: { ...result, blockTime: result.blockTime - 3600 * 25 } }
  }
  await runAttack(t, await sharedSetup(), (setup, random) => {
    const { claim, send } = paid(setup, random)
    const signature = send()
    aged.add(signature)
    return { signature, claims: [claim, { ...claim, creatorWallet: setup.attacker.wallet }] }
  })
})

/** The answer to a call for statuses, with every status replaced. */
function everyStatus(result: unknown, status: object | null): object {
  const { context, value } = result as { context: object; value: unknown[] }
  return { context, value: value.map(() => status) }
}

/** Wrong answers of a lying or broken endpoint. */
const lies: ((reply: RpcReply, method: string) => RpcReply)[] = [
  ({ id }) => ({ id, result: null }),
  ({ id }) => ({
    id,
    error: { code: -32015, message: 'Transaction version (0) is not supported by the requesting client' },
  }),
  ({ id }) => ({ id, error: { code: -32005, message: 'Node is behind by 42 slots' } }),
  ({ id }) => ({ id, result: 'nonsense' }),
  ({ id }) => ({ id, result: { context: { slot: 10 ** 15 }, value: [] } }),
  ({ id, result }, method) =>
    method === 'getTransaction'
      ? { id, result: { ...(result as object), meta: null } }
      : { id, result: null },
  ({ id, result }, method) =>
    method === 'getTransaction'
      ? { id, result: { ...(result as object), transaction: ['AAAA', 'base64'] } }
      : { id, result },
  ({ id, result }, method) =>
    method === 'getSignatureStatuses' ? { id, result: everyStatus(result, null) } : { id, result },
  ({ id, result }, method) =>
    method === 'getSignatureStatuses'
      ? { id, result: everyStatus(result, { slot: 1, err: null, confirmationStatus: 'finalized' }) }
      : { id, result: null },
  ({ id, result }, method) =>
    method === 'getSignatureStatuses'
      ? { id, result: everyStatus(result, { slot: 1, err: { Custom: 1 }, confirmationStatus: 'confirmed' }) }
      : { id, result },
]

test.serial('A16, A33: an endpoint that lies, lags or answers garbage decides nothing', async (t) => {
  const batch = createVerifierBatch(as('verifier', world().services))
  const cases: AttackCase[] = []
  await runAttack(t, await sharedSetup(), async (setup, random, variant) => {
    const { claim, send, tip } = paid(setup, random)
    const signature = send()
    const unknown = await unlanded(setup, random)
    const lie = lies[variant % lies.length] as (typeof lies)[number]
    world().proxies.outside.alterReply = (method, _params, reply) => lie(reply, method)
    for (const [txSignature, body] of [
      [signature, claim],
      [unknown, claim],
    ] as const)
      await recordTip(world(), { ...body, txSignature })
    for (let check = 0; check < 2; check++) {
      await makeTipsDue(world())
      await batch().catch(() => undefined)
    }
    const rows = await world().db('tips').whereIn('id', [signature, unknown])
    for (const row of rows) {
      t.is(row.outcome, null, `lie ${variant}: an outcome`)
      t.truthy(row.due_at)
    }
    t.is(rows.find(({ id }) => id === unknown).status, 'pending')
    world().proxies.outside.alterReply = undefined
    const attackCase = { signature, claims: [claim], tip }
    cases.push(attackCase)
    return attackCase
  })
  t.is(cases.length, variants)
  await runBatchUntil(
    batch,
    'all true tips are confirmed',
    async () =>
      (
        await world()
          .db('tips')
          .whereIn(
            'id',
            cases.map(({ signature }) => signature),
          )
          .whereNot({ status: 'confirmed' })
      ).length === 0,
  )
})

/** The signature of a transaction that never landed. */
async function unlanded(setup: AttackSetup, random: RandomSource): Promise<string> {
  const { chain } = world().sandbox
  chain.holdLanding(true)
  const signature = paid(setup, random).send()
  chain.dropMempool()
  chain.holdLanding(false)
  return signature
}
