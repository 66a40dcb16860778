import { Keypair } from '@solana/web3.js'
import test from 'ava'
import { solMint, type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { solTransfer, tokenTransfer } from '../../helpers/make/instructions.js'
import { createPaidIntents, makeTipsDue, untilConfirmedOnChain } from '../../helpers/make/intents.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { runOpsScript, spawnOpsScript } from '../../helpers/run-ops-script.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, slotMs: 400, proxies: true })
const usdc = tokenBySymbol('USDC') as Token
const batch = () => createVerifierBatch(world().services)()

test.afterEach.always(async () => {
  world().proxies.outside.alterReply = undefined
  await world().db('tips').update({ due_at: null })
})

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
      t.deepEqual(await listTips(world(), other.wallet), [], 'the public tip stays one per signature')
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

test.serial('a transaction that is final at its first check credits every custody wallet', async (t) => {
  const [creator, other] = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const price = { mint: solMint, usd: 150, source: 'test', as_of: new Date() }
  await world().db('prices').insert(price).onConflict('mint').merge()
  const txSignature = supporter.send([
    ...tokenTransfer(usdc, supporter.wallet, creator.wallet, 3_000_000),
    ...tokenTransfer(usdc, supporter.wallet, other.wallet, 2_000_000),
    solTransfer(supporter.wallet, other.wallet, 1_000_000_000),
  ])
  await untilConfirmedOnChain(world(), [txSignature])
  world().sandbox.chain.advance(40)
  const claim = { creatorWallet: creator.wallet, senderWallet: supporter.wallet, tipAmount: 1, txSignature }
  await recordTip(world(), claim)
  await untilStatus(txSignature, 'confirmed')
  t.like((await listTips(world(), other.wallet))[0], {
    signature: txSignature,
    tokenSymbol: 'SOL',
    amount: 1,
  })
  t.like(await balanceOf(creator), { availableUSDC: 3, pendingUSDC: 0 })
  t.like(await balanceOf(other), { availableUSDC: 2, pendingUSDC: 0 }, 'also when the public tip is in SOL')
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

test.serial('find-uncredited credits what earlier versions left out, once', async (t) => {
  const [creator, other] = [await registerCreator(world()), await registerCreator(world())]
  const signature = await payBoth(creator.wallet, other.wallet)
  // As it was before every wallet was credited: the wallet was not known yet.
  const hidden = await world().db('wallets').where({ user_id: creator.user.id }).first()
  await world()
    .db('wallets')
    .where({ user_id: creator.user.id })
    .update({ public_key: null, sealed_secret: null, key_version: null })
  await untilStatus(signature, 'confirmed')
  const { public_key, sealed_secret, key_version } = hidden
  await world()
    .db('wallets')
    .where({ user_id: creator.user.id })
    .update({ public_key, sealed_secret, key_version })
  t.like(await balanceOf(creator), { pendingUSDC: 0, availableUSDC: 0 })

  const early = await runOpsScript(world(), 'find-uncredited', '--apply', '--as', 'ada')
  t.regex(early.out, /50 USDC .*not final yet/)
  t.regex(early.out, /0 posted now/)
  await finalize(signature)

  const plan = await spawnOpsScript(world(), 'find-uncredited', '--days', '2')
  t.is(plan.code, 0, plan.err)
  t.true(plan.out.includes(`50 USDC  ${creator.wallet}`), plan.out)
  t.regex(plan.out, /1 credits of 50 USDC are missing; add --apply/)
  t.regex(plan.err, /tips read/)
  t.like(await balanceOf(creator), { availableUSDC: 0 })

  // A transaction that debits a custody wallet leaves nothing to credit.
  const { sender } = await readTipRow(world(), signature)
  const wallet = world().db('wallets').where({ user_id: other.user.id })
  await wallet.clone().update({ public_key: sender })
  const debited = await runOpsScript(world(), 'find-uncredited', '--days', '2')
  t.regex(debited.out, /every custody wallet that was paid is credited/)
  await wallet.clone().update({ public_key: other.wallet })

  const [one, two] = await Promise.all([
    runOpsScript(world(), 'find-uncredited', '--apply', '--json'),
    runOpsScript(world(), 'find-uncredited', '--apply', '--json'),
  ])
  t.is(JSON.parse(one.out).credited + JSON.parse(two.out).credited, 1, one.err + two.err)
  t.like(await balanceOf(creator), { availableUSDC: 50, pendingUSDC: 0 })
  t.true((await keysOf(signature)).includes(`reserve tip::${creator.wallet}`))
  const again = await runOpsScript(world(), 'find-uncredited', '--apply')
  t.regex(again.out, /every custody wallet that was paid is credited/)
  t.like(await balanceOf(creator), { availableUSDC: 50 })
  const audited = await world().db('audit_log').where({ action: 'find-uncredited' })
  t.is(audited.length, 1)
  t.like(audited[0].details, { wallet: creator.wallet, creditMicro: '50000000' })
  t.true((await checkBooks(world().db)).holds)
  t.is((await runOpsScript(world(), 'find-uncredited', '--days', '0')).code, 2)
})
