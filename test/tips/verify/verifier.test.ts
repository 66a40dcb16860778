import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js'
import test from 'ava'
import { solMint, type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createLookupTable } from '../../attacks/lookup-table.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { memo, solTransfer } from '../../helpers/make/instructions.js'
import { createIntent } from '../../helpers/make/intents.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { type ListedTip, listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
let registered: Promise<TestCreator> | undefined

/** The creator for all tests of this file. */
function theCreator(): Promise<TestCreator> {
  registered ??= registerCreator(world())
  return registered
}

function known(symbol: string): Token {
  return tokenBySymbol(symbol) as Token
}

/** Runs the verifier until the tip is confirmed. Returns it as listed for its recipient. */
async function confirmed(signature: string, recipient: string): Promise<ListedTip | undefined> {
  const batch = createVerifierBatch(as('verifier', world().services))
  const isConfirmed = async () => (await readTipRow(world(), signature)).status === 'confirmed'
  await runBatchUntil(batch, `${signature} is confirmed`, isConfirmed)
  return (await listTips(world(), recipient)).find((tip) => tip.signature === signature)
}

/** Runs the verifier until the tip is no longer due. */
async function verifiedRow(signature: string) {
  const batch = createVerifierBatch(as('verifier', world().services))
  const isDone = async () => (await readTipRow(world(), signature)).due_at === null
  await runBatchUntil(batch, `${signature} is done`, isDone)
  return readTipRow(world(), signature)
}

// Gross 2 units of the token; the creator receives 1.96.
for (const [symbol, how, display] of [
  ['SOL', 'the net in base units', 1.96],
  ['USDC', 'the gross in base units', undefined],
  ['USDT', 'the gross in display units', 2],
  ['BONK', 'more than was paid', 5000],
] as const)
  test(`a tip in ${symbol} claimed as ${how} is confirmed as 2`, async (t) => {
    const creator = await theCreator()
    const { mint, decimals } = known(symbol)
    const supporter = createSupporter(world().sandbox, symbol === 'SOL' ? [] : [symbol])
    const fields = { amount: 2, inputTokenMint: mint, sourceWalletAddress: supporter.wallet }
    world().sandbox.prices.set(mint, 1)
    const intent = await createIntent(world().request, { creatorId: creator.user.id, ...fields })
    const signature = supporter.pay(intent.transaction)
    const raw = Math.round((display ?? 2) * 10 ** decimals)
    await recordTip(world(), {
      creatorWallet: creator.wallet,
      senderWallet: supporter.wallet,
      tipAmount: how.includes('display') ? display : raw,
      tokenSymbol: symbol,
      txSignature: signature,
      message: `in ${symbol}`,
    })
    const listed = await confirmed(signature, creator.wallet)
    t.like(listed, {
      recipient: creator.wallet,
      recipient_id: creator.user.id,
      sender: supporter.wallet,
      sender_id: null,
      amount: 2,
      receivedAmount: 1.96,
      tokenSymbol: symbol,
      message: `in ${symbol}`,
      status: 'confirmed',
    })
    const stored = await readTipRow(world(), signature)
    t.like(stored, {
      intent_id: intent.intentId,
      mint,
      decimals,
      fee_found: true,
      outcome: null,
    })
    t.is(stored.received_raw, String(BigInt(196) * 10n ** BigInt(decimals - 2)))
    t.is(stored.found_false_at, null)
    t.is(stored.slot, BigInt(world().sandbox.chain.ledger.get(signature)?.slot ?? 0))
  })

type Change = (issued: TransactionInstruction[], own: string) => TransactionInstruction[]
const alterations: Record<string, Change> = {
  'a memo before and after': (issued) => [memo('before'), ...issued, memo('after')],
  'a transfer to a validator before': (issued, own) => [
    solTransfer(own, unusedWallet(), 1_000_000),
    ...issued,
  ],
  'a higher priority fee': (issued) =>
    issued.with(1, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 500_000 })),
}

for (const [how, change] of Object.entries(alterations))
  test(`a transaction that the wallet altered with ${how} is still a tip of the intent`, async (t) => {
    const creator = await theCreator()
    const supporter = createSupporter(world().sandbox)
    const fields = { amount: 0.5, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
    const intent = await createIntent(world().request, { creatorId: creator.wallet, ...fields })
    const signature = supporter.pay(intent.transaction, (issued) => change(issued, supporter.wallet))
    await recordTip(world(), {
      creatorWallet: creator.wallet,
      senderWallet: supporter.wallet,
      tipAmount: 500_000_000,
      txSignature: signature,
    })
    t.like(await confirmed(signature, creator.wallet), { amount: 0.5, receivedAmount: 0.49 })
    t.is((await readTipRow(world(), signature)).intent_id, intent.intentId)
  })

test('a sender with an account has its user id, for every claim', async (t) => {
  const creator = await theCreator()
  const supporter = createSupporter(world().sandbox)
  const fan = await registerCreator(world())
  // Not a custody wallet: a transaction that debits one is never a tip.
  await world().db('parties').where({ user_id: fan.user.id }).update({ wallet: supporter.wallet })
  const signature = supporter.send([solTransfer(supporter.wallet, creator.wallet, 5_000_000)])
  await recordTip(world(), {
    creatorWallet: creator.wallet,
    senderWallet: supporter.wallet,
    tipAmount: 5_000_000,
    txSignature: signature,
  })
  t.like(await confirmed(signature, creator.wallet), { sender: supporter.wallet, sender_id: fan.user.id })
})

test('a recipient that is only in a lookup table is found', async (t) => {
  const { chain } = world().sandbox
  const supporter = createSupporter(world().sandbox)
  const recipient = unusedWallet()
  const table = await createLookupTable(world(), supporter, [recipient])
  const signature = supporter.send([solTransfer(supporter.wallet, recipient, 4_000_000)], { tables: [table] })
  t.is(chain.ledger.get(signature)?.meta.loadedAddresses.writable[0], recipient)
  await recordTip(world(), {
    creatorWallet: recipient,
    senderWallet: supporter.wallet,
    tipAmount: 4_000_000,
    txSignature: signature,
  })
  t.like(await confirmed(signature, recipient), { amount: 0.004, sender: supporter.wallet })
})

test('the tip of a failed transaction stays pending and is not checked again', async (t) => {
  const creator = await theCreator()
  const supporter = createSupporter(world().sandbox)
  const tooMuch = solTransfer(supporter.wallet, creator.wallet, 1_000_000_000_000n)
  const signature = supporter.send([tooMuch], { skipPreflight: true })
  t.not(world().sandbox.chain.ledger.get(signature)?.meta.err, null)
  const claim = { creatorWallet: creator.wallet, senderWallet: supporter.wallet, txSignature: signature }
  await recordTip(world(), { ...claim, tipAmount: 1_000_000_000_000 })
  t.like(await verifiedRow(signature), { status: 'pending', outcome: 'tx_failed', confirmed_at: null })
})
