import { Keypair } from '@solana/web3.js'
import test from 'ava'
import { type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { creditMissing } from '../../../src/tips/confirm/credit-tips.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { solTransfer, tokenTransfer } from '../../helpers/make/instructions.js'
import { createPaidIntents, makeTipsDue, untilConfirmedOnChain } from '../../helpers/make/intents.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400, proxies: true })
const usdc = tokenBySymbol('USDC') as Token
const batch = () => createVerifierBatch(as('verifier', world().services))()

test.afterEach.always(async () => {
  world().proxies.outside.alterReply = undefined
  await world().db('tips').update({ due_at: null })
})

/** The service sees every transaction as landed three days earlier. */
function ageTransactions(): void {
  world().proxies.outside.alterReply = (method, _params, reply) => {
    const result = reply.result as { blockTime?: number } | null
    if (method !== 'getTransaction' || typeof result?.blockTime !== 'number') return reply
    return { ...reply, result: { ...result, blockTime: result.blockTime - 3 * 86_400 } }
  }
}

/** One transaction in which two signers pay the creator 2 USDC each, so none lost the 4. The first also pays `other` 1. */
async function payTogether(creator: string, other: string) {
  const [first, second] = [
    createSupporter(world().sandbox, ['USDC']),
    createSupporter(world().sandbox, ['USDC']),
  ]
  const txSignature = first.send(
    [
      ...tokenTransfer(usdc, first.wallet, creator, 2_000_000),
      ...tokenTransfer(usdc, second.wallet, creator, 2_000_000),
      ...tokenTransfer(usdc, first.wallet, other, 1_000_000),
    ],
    { signers: [second.keypair] },
  )
  await untilConfirmedOnChain(world(), [txSignature])
  const claim = { senderWallet: first.wallet, tokenSymbol: 'USDC', txSignature }
  await recordTip(world(), { ...claim, creatorWallet: creator, tipAmount: 4_000_000 })
  return {
    signature: txSignature,
    claimOther: () => recordTip(world(), { ...claim, creatorWallet: other, tipAmount: 1_000_000 }),
  }
}

async function untilMismatch(signature: string): Promise<void> {
  await runBatchUntil(batch, 'mismatch', async () => {
    await makeTipsDue(world())
    return (await readTipRow(world(), signature)).outcome === 'mismatch'
  })
}

/** One transaction that pays A 50 USDC and X a millionth, reported for X. */
async function payBoth(a: string, x: string): Promise<string> {
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const txSignature = supporter.send([
    ...tokenTransfer(usdc, supporter.wallet, x, 1),
    ...tokenTransfer(usdc, supporter.wallet, a, 50_000_000),
  ])
  await untilConfirmedOnChain(world(), [txSignature])
  await recordTip(world(), {
    creatorWallet: x,
    senderWallet: supporter.wallet,
    tipAmount: 1,
    tokenSymbol: 'USDC',
    txSignature,
  })
  return txSignature
}

async function untilStatus(signature: string, status: string): Promise<void> {
  await runBatchUntil(batch, status, async () => {
    await makeTipsDue(world())
    return (await readTipRow(world(), signature)).status === status
  })
}

async function finalize(signature: string): Promise<void> {
  world().sandbox.chain.advance(40)
  await runBatchUntil(batch, 'final', async () => {
    await makeTipsDue(world())
    return (await readTipRow(world(), signature)).finalized_at !== null
  })
}

async function balanceOf({ session }: TestCreator): Promise<Record<string, number>> {
  const path = '/creators/balance'
  const { body } = await world().request<{ balance: Record<string, number> }>('GET', path, { session })
  return body.balance
}

async function keysOf(signature: string): Promise<string[]> {
  const rows = await world()
    .db('ledger_transfers')
    .where('idem', 'like', `tip:${signature}%`)
    .orderBy('idem')
    .select('idem', 'kind')
  return rows.map(({ idem, kind }) => `${kind} ${idem.replace(signature, '')}`)
}

test.serial('a creator’s money is credited although another wallet was claimed first', async (t) => {
  for (const registered of [true, false]) {
    const creator = await registerCreator(world())
    const other = registered ? await registerCreator(world()) : undefined
    const signature = await payBoth(creator.wallet, other?.wallet ?? unusedWallet())
    await untilStatus(signature, 'confirmed')
    t.like((await listTips(world(), creator.wallet))[0], { signature, amount: 50, receivedAmount: 50 })
    t.like(await balanceOf(creator), { pendingUSDC: 50, availableUSDC: 0 })
    if (other !== undefined) {
      t.like((await listTips(world(), other.wallet))[0], { signature, amount: 0.000001 })
      t.like(await balanceOf(other), { pendingUSDC: 0.000001, availableUSDC: 0 })
    }
    await finalize(signature)
    t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 50 })
    if (other !== undefined) t.like(await balanceOf(other), { pendingUSDC: 0, availableUSDC: 0.000001 })
    const further =
      other === undefined ? [] : [`reserve tip::${other.wallet}`, `post tip::${other.wallet}:resolve`]
    t.deepEqual(
      (await keysOf(signature)).toSorted(),
      ['reserve tip:', 'post tip::resolve', ...further].sort(),
    )
  }
  t.true((await checkBooks(world().db)).holds)
})

test.serial('a fork voids the credits of every wallet', async (t) => {
  const [creator, other] = [await registerCreator(world()), await registerCreator(world())]
  const signature = await payBoth(creator.wallet, other.wallet)
  await untilStatus(signature, 'confirmed')
  world().proxies.outside.alterReply = (method, [signatures], reply) => {
    if (method !== 'getSignatureStatuses' || !Array.isArray(signatures)) return reply
    const { context, value } = reply.result as { context: { slot: number }; value: unknown[] }
    const failed = {
      slot: context.slot,
      err: { InstructionError: [0, 'Custom'] },
      confirmationStatus: 'finalized',
    }
    const changed = value.map((one, index) => (signatures[index] === signature ? failed : one))
    return { id: reply.id, result: { context, value: changed } }
  }
  await untilStatus(signature, 'failed')
  for (const one of [creator, other]) t.like(await balanceOf(one), { pendingUSDC: 0, availableUSDC: 0 })
  t.is((await keysOf(signature)).filter((key) => key.startsWith('void')).length, 2)
  t.true((await checkBooks(world().db)).holds)
})

test.serial('credits of a transaction that was finalized in another slot are checked again', async (t) => {
  const [creator, other] = [await registerCreator(world()), await registerCreator(world())]
  const signature = await payBoth(creator.wallet, other.wallet)
  await untilStatus(signature, 'confirmed')
  const moves = (further: string) =>
    world()
      .db('tips')
      .where({ id: signature })
      .update({ slot: 1, further_credits: JSON.stringify({ [other.wallet]: further }) })
  await moves('2')
  world().sandbox.chain.advance(40)
  await makeTipsDue(world())
  await batch()
  t.is((await readTipRow(world(), signature)).finalized_at, null)
  t.like(await balanceOf(creator), { pendingUSDC: 50 })
  await moves('1')
  await finalize(signature)
  t.like(await balanceOf(creator), { availableUSDC: 50 })
  t.like(await balanceOf(other), { availableUSDC: 0.000001 })
})

test.serial('a transaction that debits a custody wallet is neither a tip nor a credit', async (t) => {
  const creator = await registerCreator(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  // A custody wallet whose key the test has.
  const keypair = Keypair.generate()
  const debited = await registerCreator(world())
  await world()
    .db('wallets')
    .where({ user_id: debited.user.id })
    .update({ public_key: keypair.publicKey.toBase58() })
  supporter.send([solTransfer(supporter.wallet, keypair.publicKey.toBase58(), 1_000_000_000)])
  const txSignature = supporter.send(
    [
      ...tokenTransfer(usdc, supporter.wallet, creator.wallet, 5_000_000),
      solTransfer(keypair.publicKey.toBase58(), supporter.wallet, 1000),
    ],
    { signers: [keypair] },
  )
  await untilConfirmedOnChain(world(), [txSignature])
  const claim = { creatorWallet: creator.wallet, senderWallet: supporter.wallet, tipAmount: 5_000_000 }
  await recordTip(world(), { ...claim, tokenSymbol: 'USDC', txSignature })
  await runBatchUntil(batch, 'done', async () => (await readTipRow(world(), txSignature)).outcome !== null)
  t.like(await readTipRow(world(), txSignature), { status: 'pending', outcome: 'mismatch' })
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 0 })

  // Also when it pays an intent unaltered.
  const [paid] = await createPaidIntents(world(), supporter, [creator.wallet])
  if (paid === undefined) return t.fail('no intent was paid')
  await world().db('wallets').where({ user_id: debited.user.id }).update({ public_key: supporter.wallet })
  await recordTip(world(), paid.claim)
  const { signature } = paid
  await runBatchUntil(batch, 'done', async () => (await readTipRow(world(), signature)).outcome !== null)
  t.like(await readTipRow(world(), signature), { status: 'pending', outcome: 'mismatch' })
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 0 })
})

test.serial('USDC that no single signer lost is credited once final, without a tip', async (t) => {
  const creator = await registerCreator(world())
  const other = unusedWallet()
  const { signature, claimOther } = await payTogether(creator.wallet, other)
  await makeTipsDue(world())
  await batch()
  t.like(
    await readTipRow(world(), signature),
    { status: 'pending', outcome: null },
    'it waits until it is final',
  )
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 0 })
  world().sandbox.chain.advance(40)
  await untilMismatch(signature)
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 4 })
  t.is((await readTipRow(world(), signature)).status, 'pending')
  t.deepEqual(await listTips(world(), creator.wallet), [])
  // A claim of the other payment makes a tip of the same transaction.
  await claimOther()
  await untilStatus(signature, 'confirmed')
  await finalize(signature)
  t.like((await listTips(world(), other))[0], { signature, receivedAmount: 1 })
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 4 })
  const credited = [`post tip::${creator.wallet}:resolve`, `reserve tip::${creator.wallet}`]
  t.deepEqual((await keysOf(signature)).toSorted(), credited)
  t.true((await checkBooks(world().db)).holds)
})

test.serial('a wallet credited without a tip is not credited again as the recipient of one', async (t) => {
  const [creator, other] = [await registerCreator(world()), await registerCreator(world())]
  const signature = await payBoth(creator.wallet, other.wallet)
  world().sandbox.chain.advance(40)
  const paid = { signature, wallet: creator.wallet, micro: 50_000_000n }
  const { transact } = world().services
  t.is((await transact(({ trx }) => creditMissing(trx, [paid]))).length, 1)
  t.is((await transact(({ trx }) => creditMissing(trx, [paid]))).length, 0)
  await untilStatus(signature, 'confirmed')
  await finalize(signature)
  t.like((await listTips(world(), creator.wallet))[0], { signature, receivedAmount: 50 })
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 50 })
  t.like(await balanceOf(other), { availableUSDC: 0.000001 })
  t.is((await transact(({ trx }) => creditMissing(trx, [paid]))).length, 0)
  t.true((await checkBooks(world().db)).holds)
})

test.serial('find-uncredited confirms old tips found false, and lists money that is no tip', async (t) => {
  const creators = [
    await registerCreator(world()),
    await registerCreator(world()),
    await registerCreator(world()),
  ]
  const [paid, also, together] = creators as [TestCreator, TestCreator, TestCreator]
  ageTransactions()
  const tip = await payBoth(paid.wallet, also.wallet)
  const other = unusedWallet()
  const { signature: noTip, claimOther } = await payTogether(together.wallet, other)
  const early = await runOpsScript(world(), 'find-uncredited', '--json')
  t.is(JSON.parse(early.out).gaps.length, 0, 'the verifier still checks them')
  await claimOther()
  world().sandbox.chain.advance(40)
  for (const signature of [tip, noTip]) await untilMismatch(signature)
  for (const one of creators) t.like(await balanceOf(one), { pendingUSDC: 0, availableUSDC: 0 })

  const plan = await runOpsScript(world(), 'find-uncredited')
  t.is(plan.code, 0, plan.err)
  const lineOf = ({ wallet }: TestCreator) => plan.out.split('\n').find((line) => line.includes(wallet)) ?? ''
  t.regex(lineOf(paid), /^ +50 USDC .*not confirmed yet: --apply confirms it$/)
  t.regex(lineOf(also), /^ +0\.000001 USDC .*not confirmed yet/)
  t.regex(lineOf(together), /^ +4 USDC .*arrived, no tip$/)
  t.regex(plan.out, /3 credits of 54\.000001 USDC are missing; add --apply/)

  const runs = await Promise.all([
    runOpsScript(world(), 'find-uncredited', '--apply', '--json'),
    runOpsScript(world(), 'find-uncredited', '--apply', '--json'),
  ])
  t.is(
    runs.map(({ out }) => JSON.parse(out).credited).reduce((sum, one) => sum + one),
    3,
    runs[0].err + runs[1].err,
  )
  t.like(await balanceOf(paid), { pendingUSDC: 0, availableUSDC: 50 })
  t.like(await balanceOf(also), { pendingUSDC: 0, availableUSDC: 0.000001 })
  t.like(await balanceOf(together), { pendingUSDC: 0, availableUSDC: 4 })
  t.true((await keysOf(tip)).includes('reserve tip:'), 'the recipient of the public tip has its usual key')
  t.like((await listTips(world(), paid.wallet))[0], { signature: tip, receivedAmount: 50 })
  t.deepEqual(await listTips(world(), other), [], 'a claim alone makes no tip of an old transfer')
  t.regex(
    (await runOpsScript(world(), 'find-uncredited', '--apply')).out,
    /every custody wallet that was paid is credited/,
  )
  t.is(
    (
      await world()
        .db('audit_log')
        .where({ action: 'find-uncredited' })
        .whereIn(
          'subject',
          creators.map(({ user }) => `user:${user.id}`),
        )
    ).length,
    3,
  )
  t.true((await checkBooks(world().db)).holds)
})
