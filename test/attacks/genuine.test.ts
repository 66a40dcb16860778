import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token'
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import test from 'ava'
import type { LedgerRecord } from '../../scripts/sandbox/chain/ledger.js'
import { createVerifierBatch } from '../../src/tips/verify/verify-tips.js'
import { issueIntent } from '../helpers/make/intents.js'
import { unconfirmed } from '../helpers/make/landed.js'
import { type createSupporter, strangerWallet } from '../helpers/make/supporter.js'
import { recordTip, storedTip, verifyUntil } from '../helpers/make/tips.js'
import { memo } from '../helpers/make/transfers.js'
import { useWorld } from '../helpers/servers/world.js'
import { gained } from './corpus.js'
import { type Dice, diceFor } from './dice.js'
import { associatedAccount, bonk, openScene, type Scene, sol, someUnits, transfer, usdc } from './scene.js'
import { openTable } from './tables.js'

const world = useWorld(test, { chain: true, slotMs: 400 })
const genuine = 200

type Change = (issued: TransactionInstruction[], own: string, dice: Dice) => TransactionInstruction[]
/** What wallets do to a message before they sign it. */
const changes: Record<string, Change> = {
  nothing: (issued) => issued,
  'a guard before': (issued) => [memo('guard'), ...issued],
  'a guard after': (issued) => [...issued, memo('guard')],
  'guards before, between and after': (issued) =>
    issued.flatMap((one) => [memo('guard'), one]).concat(memo('last')),
  'a priority fee of their own': (issued, _own, dice) =>
    issued.with(1, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 + dice.roll(900_000) })),
  'no priority fee': (issued) => issued.slice(2),
  'a tip to a validator': (issued, own) => [...transfer(sol, own, strangerWallet(), 1_000_000), ...issued],
  'a new token account of their own': (issued, own) => [
    createAssociatedTokenAccountIdempotentInstruction(
      new PublicKey(own),
      associatedAccount(own, sol.mint),
      new PublicKey(own),
      new PublicKey(sol.mint),
    ),
    ...issued,
  ],
  'the legs the other way round': (issued) => [
    ...issued.slice(0, 2),
    ...issued.slice(2, -2),
    ...issued.slice(-2).reverse(),
  ],
}

/** Signs an issued message as a wallet would, changed, and through a lookup table where there is one. */
function signed({
  transaction,
  change,
  supporter,
  tables,
  version,
}: {
  transaction: string
  change: (issued: TransactionInstruction[]) => TransactionInstruction[]
  supporter: ReturnType<typeof createSupporter>
  tables: AddressLookupTableAccount[]
  version: 'legacy' | 0
}): string {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  const plain = TransactionMessage.decompile(message)
  plain.instructions = change(plain.instructions)
  const made = new VersionedTransaction(
    version === 0 ? plain.compileToV0Message(tables) : plain.compileToLegacyMessage(),
  )
  made.sign([supporter.keypair])
  return world().sandbox.chain.submit(made.serialize(), { skipPreflight: false })
}

interface Played {
  readonly signature: string
  readonly intentId: string
  readonly wallet: string
  readonly mint: string
  readonly message: string
  readonly how: string
}

/** One genuine tip, in every respect of chance but the way its message is altered. */
async function tip(
  scene: Scene,
  dice: Dice,
  table: AddressLookupTableAccount,
  variant: number,
): Promise<Played> {
  const { mint, symbol, decimals } = dice.pick([sol, usdc, bonk])
  const how = Object.keys(changes)[variant % Object.keys(changes).length] ?? 'nothing'
  const { wallet, user } = dice.pick(scene.creators)
  const recipient = dice.pick([wallet, wallet, strangerWallet()])
  const creatorId = recipient === wallet ? dice.pick([wallet, user.id]) : recipient
  const supporter = dice.pick([scene.supporter, scene.attacker])
  const units = symbol === 'SOL' ? someUnits() * 10 : symbol === 'BONK' ? someUnits() + 10 ** 8 : someUnits()
  const asked = { creatorId, inputTokenMint: mint, sourceWalletAddress: supporter.wallet }
  const intent = await issueIntent(world().request, { ...asked, amount: units / 10 ** decimals })
  const signature = signed({
    transaction: intent.transaction,
    change: (issued) => changes[how]?.(issued, supporter.wallet, dice) ?? issued,
    supporter,
    tables: dice.pick([[], [], [table]]),
    version: dice.pick(['legacy', 0, 0]),
  })
  const { intentId } = intent
  const message = `tip ${variant}`
  const claim = {
    creatorWallet: recipient,
    senderWallet: supporter.wallet,
    tipAmount: units,
    tokenSymbol: symbol,
  }
  await recordTip(world(), { ...claim, ...dice.pick([{}, { intentId }]), message, txSignature: signature })
  return { signature, intentId, wallet: recipient, mint, message, how }
}

test('200 genuine tips, as wallets alter them, are confirmed to the unit, each as the tip of its intent', async (t) => {
  t.timeout(180_000)
  const scene = await openScene(world())
  const dice = diceFor(t)
  const treasuryUsdc = associatedAccount(scene.treasury, usdc.mint).toBase58()
  const named = [...scene.creators.map(({ wallet }) => wallet), scene.treasury, treasuryUsdc]
  const table = await openTable(world(), scene.supporter, named)
  const batch = createVerifierBatch(world().services)
  const played: Played[] = []
  for (let variant = 0; variant < genuine; variant++) {
    played.push(await tip(scene, dice, table, variant))
    if (variant % 20 === 0) await batch()
  }
  const signatures = played.map(({ signature }) => signature)
  const missing = async () => unconfirmed(world(), signatures)
  const none = async () => (await missing()).length === 0
  await verifyUntil(batch, 'all are confirmed', none, 30_000).catch(() => undefined)
  t.deepEqual(await missing(), [], 'a false rejection')
  for (const { signature, intentId, wallet, mint, message, how } of played) {
    const row = await storedTip(world(), signature)
    t.like(row, { intent_id: intentId, mint, message, fee_found: true }, how)
    const record = world().sandbox.chain.ledger.get(signature) as LedgerRecord
    t.is(BigInt(row.received_raw), gained(record, wallet, mint), how)
  }
})
