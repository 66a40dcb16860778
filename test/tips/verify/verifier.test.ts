import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js'
import test from 'ava'
import { solMint, type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { openTable } from '../../attacks/tables.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { issueIntent } from '../../helpers/make/intents.js'
import { createSupporter, strangerWallet } from '../../helpers/make/supporter.js'
import { type ListedTip, listTips, recordTip, storedTip, verifyUntil } from '../../helpers/make/tips.js'
import { memo, solTransfer, tokenTransfer } from '../../helpers/make/transfers.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
let registered: Promise<TestCreator> | undefined

/** One creator for all tests of this file. */
function theCreator(): Promise<TestCreator> {
  registered ??= registerCreator(world())
  return registered
}

function known(symbol: string): Token {
  return tokenBySymbol(symbol) as Token
}

/** Runs the verifier until the tip is confirmed, and answers it as it is listed for its recipient. */
async function confirmed(signature: string, recipient: string): Promise<ListedTip | undefined> {
  const batch = createVerifierBatch(world().services)
  const isConfirmed = async () => (await storedTip(world(), signature)).status === 'confirmed'
  await verifyUntil(batch, `${signature} is confirmed`, isConfirmed)
  return (await listTips(world(), recipient)).find((tip) => tip.signature === signature)
}

/** Runs the verifier until nothing is left to do about the tip. */
async function given(signature: string) {
  const batch = createVerifierBatch(world().services)
  const isDone = async () => (await storedTip(world(), signature)).due_at === null
  await verifyUntil(batch, `${signature} is done`, isDone)
  return storedTip(world(), signature)
}

// Gross 2 units of the token; the creator receives 1.96.
for (const symbol of ['SOL', 'USDC', 'USDT', 'BONK'])
  for (const [how, display, shown] of [
    ['the gross in base units', undefined, 2],
    ['the net in base units', 1.96, 1.96],
    ['the gross in display units', 2, 2],
    ['more than was paid', 5000, 1.96],
  ] as const) {
    if (symbol === 'SOL' && how.includes('display')) continue
    test(`a tip in ${symbol} claimed as ${how} is confirmed as ${shown}`, async (t) => {
      const creator = await theCreator()
      const { mint, decimals } = known(symbol)
      const supporter = createSupporter(world().sandbox, symbol === 'SOL' ? [] : [symbol])
      const asked = { amount: 2, inputTokenMint: mint, sourceWalletAddress: supporter.wallet }
      world().sandbox.prices.set(mint, 1)
      const intent = await issueIntent(world().request, { creatorId: creator.user.id, ...asked })
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
        amount: shown,
        receivedAmount: 1.96,
        tokenSymbol: symbol,
        message: `in ${symbol}`,
        status: 'confirmed',
      })
      const stored = await storedTip(world(), signature)
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
  }

type Change = (issued: TransactionInstruction[], own: string) => TransactionInstruction[]
const alterations: Record<string, Change> = {
  'a memo before and after': (issued) => [memo('before'), ...issued, memo('after')],
  'a transfer to a validator before': (issued, own) => [
    solTransfer(own, strangerWallet(), 1_000_000),
    ...issued,
  ],
  'a higher priority fee': (issued) =>
    issued.with(1, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 500_000 })),
}

for (const [how, change] of Object.entries(alterations))
  test(`a message that the wallet has altered with ${how} is still the intent's tip`, async (t) => {
    const creator = await theCreator()
    const supporter = createSupporter(world().sandbox)
    const asked = { amount: 0.5, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
    const intent = await issueIntent(world().request, { creatorId: creator.wallet, ...asked })
    const signature = supporter.pay(intent.transaction, (issued) => change(issued, supporter.wallet))
    await recordTip(world(), {
      creatorWallet: creator.wallet,
      senderWallet: supporter.wallet,
      tipAmount: 500_000_000,
      txSignature: signature,
    })
    t.like(await confirmed(signature, creator.wallet), { amount: 0.5, receivedAmount: 0.49 })
    t.is((await storedTip(world(), signature)).intent_id, intent.intentId)
  })

test('a transfer made without an intent is a tip of what arrived, to accounts and to strangers', async (t) => {
  const creator = await theCreator()
  const usdc = known('USDC')
  const supporter = createSupporter(world().sandbox, ['USDC'])
  for (const recipient of [creator.wallet, strangerWallet()]) {
    const inSol = supporter.send([solTransfer(supporter.wallet, recipient, 7_000_000)])
    const inUsdc = supporter.send(tokenTransfer(usdc, supporter.wallet, recipient, 3_210_000))
    const claim = { creatorWallet: recipient, senderWallet: supporter.wallet }
    await recordTip(world(), { ...claim, tipAmount: 7_000_000, txSignature: inSol })
    await recordTip(world(), { ...claim, tipAmount: 3.21, tokenSymbol: 'USDC', txSignature: inUsdc })
    t.like(await confirmed(inSol, recipient), { amount: 0.007, receivedAmount: 0.007, tokenSymbol: 'SOL' })
    t.like(await confirmed(inUsdc, recipient), { amount: 3.21, receivedAmount: 3.21, tokenSymbol: 'USDC' })
    t.like(await storedTip(world(), inUsdc), { intent_id: null, fee_found: false })
  }
})

test('the sender with an account is named by it, whoever claimed', async (t) => {
  const creator = await theCreator()
  const supporter = createSupporter(world().sandbox)
  const fan = await registerCreator(world())
  await world().db('wallets').where({ user_id: fan.user.id }).update({ public_key: supporter.wallet })
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

test('a recipient that stands only in a lookup table is found', async (t) => {
  const { chain } = world().sandbox
  const supporter = createSupporter(world().sandbox)
  const recipient = strangerWallet()
  const table = await openTable(world(), supporter, [recipient])
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

test('a transaction that failed stays pending for ever and is not asked about again', async (t) => {
  const creator = await theCreator()
  const supporter = createSupporter(world().sandbox)
  const tooMuch = solTransfer(supporter.wallet, creator.wallet, 1_000_000_000_000n)
  const signature = supporter.send([tooMuch], { skipPreflight: true })
  t.not(world().sandbox.chain.ledger.get(signature)?.meta.err, null)
  const claim = { creatorWallet: creator.wallet, senderWallet: supporter.wallet, txSignature: signature }
  await recordTip(world(), { ...claim, tipAmount: 1_000_000_000_000 })
  t.like(await given(signature), { status: 'pending', outcome: 'tx_failed', confirmed_at: null })
})

test('a transaction that pays nobody, pays back, or pays oneself is no tip', async (t) => {
  const creator = await theCreator()
  const supporter = createSupporter(world().sandbox)
  const { wallet, keypair } = createSupporter(world().sandbox)
  const own = supporter.wallet
  const cases: [signature: string, recipient: string][] = [
    [supporter.send([memo('nothing')]), creator.wallet],
    [
      supporter.send([solTransfer(own, wallet, 9_000_000), solTransfer(wallet, own, 9_000_000)], {
        signers: [keypair],
      }),
      wallet,
    ],
    [supporter.send([solTransfer(own, own, 9_000_000)]), own],
    [supporter.send([solTransfer(wallet, own, 9_000_000)], { signers: [keypair] }), own],
  ]
  for (const [txSignature, creatorWallet] of cases) {
    await recordTip(world(), { creatorWallet, senderWallet: own, tipAmount: 9_000_000, txSignature })
    t.like(await given(txSignature), { status: 'pending', outcome: 'mismatch' })
    t.deepEqual(
      (await listTips(world(), creatorWallet)).filter(({ signature }) => signature === txSignature),
      [],
    )
  }
})
