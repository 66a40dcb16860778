import test from 'ava'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { LocalChain } from '../../scripts/sandbox/chain/local-chain.js'
import { createVerifierBatch } from '../../src/tips/verify/verify-tips.js'
import { issueIntent } from '../helpers/make/intents.js'
import { lookAgain } from '../helpers/make/paid-intents.js'
import { recordTip, verifyUntil } from '../helpers/make/tips.js'
import type { RpcReply } from '../helpers/servers/outside-proxy.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { type Move, type Play, playAll, variants } from './corpus.js'
import type { Dice } from './dice.js'
import { openScene, type Scene, sol, someUnits, transfer, usdc } from './scene.js'

const world = useWorld(test, { chain: true, slotMs: 100, taps: true })
let opened: Promise<Scene> | undefined
const scene = (): Promise<Scene> => {
  opened ??= openScene(world())
  return opened
}

test.afterEach.always(() => {
  Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  world().sandbox.chain.releaseControls()
})

/** A transfer to a creator and the true claim to it. */
function paid({ supporter, creators }: Scene, dice: Dice) {
  const { wallet } = dice.pick(creators)
  const token = dice.pick([sol, usdc])
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

const attacks: Record<string, Play> = {
  'A25: a signature of another cluster': ({ creators }, dice) => {
    const other = new LocalChain({
      seed: `other ${dice.roll(10 ** 6)}`,
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
    const { wallet } = dice.pick(creators)
    const signature = requestAirdrop(other, wallet, BigInt(someUnits()))
    other.close()
    return {
      signature,
      claims: [{ creatorWallet: wallet, senderWallet: faucet.publicKey.toBase58() }],
      waits: true,
    }
  },
  'A26: only processed, dropped or expired': (scene, dice) => {
    const { chain } = world().sandbox
    const { claim, send } = paid(scene, dice)
    const way = dice.roll(3)
    chain.holdLanding(way > 0)
    const signature = send()
    if (way === 0) chain.holdSignature(signature, 'processed')
    // Waits until its blockhash has expired, or is forgotten by the node that took it.
    if (way === 1) chain.advance(200)
    else chain.dropMempool()
    chain.holdLanding(false)
    return { signature, claims: [claim], waits: true }
  },
  'A27: an intent’s transaction that lands a day late': async ({ supporter, creators }, dice) => {
    const { wallet } = dice.pick(creators)
    const asked = { creatorId: wallet, inputTokenMint: usdc.mint, sourceWalletAddress: supporter.wallet }
    const units = someUnits()
    await freshBlockhash()
    const intent = await issueIntent(world().request, { ...asked, amount: units / 1e6 })
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
    await createVerifierBatch(world().services)()
    const long = new Date(Date.now() - 23.5 * 3_600_000)
    await world().db('tips').where({ id: signature }).update({ recorded_at: long })
    await world().db('payment_intents').where({ id: intent.intentId }).update({ created_at: long })
    chain.holdLanding(false)
    return { signature, claims: [], tip: { recipients: [wallet], mint: usdc.mint } }
  },
}

/** After a leap of the chain, the service hands out blockhashes of now within a second. */
async function freshBlockhash(): Promise<void> {
  const { sandbox, services } = world()
  await until('blockhashes of now are handed out', async () => {
    const { blockhash } = await services.chain.latestBlockhash()
    return sandbox.chain.clock.slotOfRecentHash(blockhash) !== undefined
  })
}

for (const [name, play] of Object.entries(attacks))
  test.serial(`${name}: no wrong verdict`, async (t) => playAll(t, await scene(), play))

test.serial('A28: old transfers between others are no tips, and become none by a claim', async (t) => {
  const aged = new Set<string>()
  world().taps.outside.alter = (method, [signature], reply) => {
    const result = reply.result as { blockTime?: number } | null
    if (method !== 'getTransaction' || !aged.has(String(signature)) || typeof result?.blockTime !== 'number')
      return reply
    return { ...reply, result: { ...result, blockTime: result.blockTime - 3600 * 25 } }
  }
  await playAll(t, await scene(), (one, dice) => {
    const { claim, send } = paid(one, dice)
    const signature = send()
    aged.add(signature)
    return { signature, claims: [claim, { ...claim, creatorWallet: one.attacker.wallet }] }
  })
})

/** The answer about statuses, with this one in the place of each. */
function everyStatus(result: unknown, status: object | null): object {
  const { context, value } = result as { context: object; value: unknown[] }
  return { context, value: value.map(() => status) }
}

/** What a lying or broken endpoint may say instead of the truth. */
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

test.serial(
  'A16, A33: an endpoint that lies, lags or answers garbage leads to no verdict, and the truth is found afterwards',
  async (t) => {
    const batch = createVerifierBatch(world().services)
    const moves: Move[] = []
    await playAll(t, await scene(), async (one, dice, variant) => {
      const { claim, send, tip } = paid(one, dice)
      const signature = send()
      const unknown = await unlanded(one, dice)
      const lie = lies[variant % lies.length] as (typeof lies)[number]
      world().taps.outside.alter = (method, _params, reply) => lie(reply, method)
      for (const [txSignature, body] of [
        [signature, claim],
        [unknown, claim],
      ] as const)
        await recordTip(world(), { ...body, txSignature })
      for (let look = 0; look < 2; look++) {
        await lookAgain(world())
        await batch().catch(() => undefined)
      }
      const rows = await world().db('tips').whereIn('id', [signature, unknown])
      for (const row of rows) {
        t.is(row.outcome, null, `lie ${variant}: a verdict`)
        t.truthy(row.due_at)
      }
      t.is(rows.find(({ id }) => id === unknown).status, 'pending')
      world().taps.outside.alter = undefined
      const move = { signature, claims: [claim], tip }
      moves.push(move)
      return move
    })
    t.is(moves.length, variants)
    await verifyUntil(
      batch,
      'all the true ones are confirmed',
      async () =>
        (
          await world()
            .db('tips')
            .whereIn(
              'id',
              moves.map(({ signature }) => signature),
            )
            .whereNot({ status: 'confirmed' })
        ).length === 0,
    )
  },
)

/** The signature of a transaction that was signed and never sent. */
async function unlanded(one: Scene, dice: Dice): Promise<string> {
  const { chain } = world().sandbox
  chain.holdLanding(true)
  const signature = paid(one, dice).send()
  chain.dropMempool()
  chain.holdLanding(false)
  return signature
}
