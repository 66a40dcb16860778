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
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { memo } from '../helpers/make/instructions.js'
import { createIntent } from '../helpers/make/intents.js'
import { listUnconfirmed } from '../helpers/make/landed-tips.js'
import { type createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { createLookupTable } from './lookup-table.js'
import { balanceGain, createRandomSource, type RandomSource } from './run-attack.js'
import {
  type AttackSetup,
  associatedAccount,
  bonk,
  createAttackSetup,
  sol,
  someUnits,
  transfer,
  usdc,
} from './setup.js'

const world = useWorld(test, { chain: true, slotMs: 400 })
const genuine = 200

type Change = (
  issued: TransactionInstruction[],
  own: string,
  random: RandomSource,
) => TransactionInstruction[]
/** How wallets alter a message before they sign it. */
const changes: Record<string, Change> = {
  nothing: (issued) => issued,
  'a guard before': (issued) => [memo('guard'), ...issued],
  'a guard after': (issued) => [...issued, memo('guard')],
  'guards before, between and after': (issued) =>
    issued.flatMap((one) => [memo('guard'), one]).concat(memo('last')),
  'a priority fee of their own': (issued, _own, random) =>
    issued.with(1, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 + random.below(900_000) })),
  'no priority fee': (issued) => issued.slice(2),
  'a tip to a validator': (issued, own) => [...transfer(sol, own, unusedWallet(), 1_000_000), ...issued],
  'a new token account of their own': (issued, own) => [
    createAssociatedTokenAccountIdempotentInstruction(
      new PublicKey(own),
      associatedAccount(own, sol.mint),
      new PublicKey(own),
      new PublicKey(sol.mint),
    ),
    ...issued,
  ],
  'the transfers in reverse order': (issued) => [
    ...issued.slice(0, 2),
    ...issued.slice(2, -2),
    ...issued.slice(-2).reverse(),
  ],
}

/** Signs and submits an altered transaction as a wallet would, with a lookup table if there is one. */
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

interface GenuineTip {
  readonly signature: string
  readonly intentId: string
  readonly wallet: string
  readonly mint: string
  readonly message: string
  readonly how: string
}

/** A genuine random tip. `variant` selects how the message is altered. */
async function tip(
  setup: AttackSetup,
  random: RandomSource,
  table: AddressLookupTableAccount,
  variant: number,
): Promise<GenuineTip> {
  const { mint, symbol, decimals } = random.pick([sol, usdc, bonk])
  const how = Object.keys(changes)[variant % Object.keys(changes).length] ?? 'nothing'
  const { wallet, user } = random.pick(setup.creators)
  const recipient = random.pick([wallet, wallet, unusedWallet()])
  const creatorId = recipient === wallet ? random.pick([wallet, user.id]) : recipient
  const supporter = random.pick([setup.supporter, setup.attacker])
  const units = symbol === 'SOL' ? someUnits() * 10 : symbol === 'BONK' ? someUnits() + 10 ** 8 : someUnits()
  const fields = { creatorId, inputTokenMint: mint, sourceWalletAddress: supporter.wallet }
  const intent = await createIntent(world().request, { ...fields, amount: units / 10 ** decimals })
  const signature = signed({
    transaction: intent.transaction,
    change: (issued) => changes[how]?.(issued, supporter.wallet, random) ?? issued,
    supporter,
    tables: random.pick([[], [], [table]]),
    version: random.pick(['legacy', 0, 0]),
  })
  const { intentId } = intent
  const message = `tip ${variant}`
  const claim = {
    creatorWallet: recipient,
    senderWallet: supporter.wallet,
    tipAmount: units,
    tokenSymbol: symbol,
  }
  await recordTip(world(), { ...claim, ...random.pick([{}, { intentId }]), message, txSignature: signature })
  return { signature, intentId, wallet: recipient, mint, message, how }
}

test('200 genuine tips that wallets altered are confirmed with exact amounts, each as the tip of its intent', async (t) => {
  t.timeout(180_000)
  const setup = await createAttackSetup(world())
  const random = createRandomSource(t)
  const treasuryUsdc = associatedAccount(setup.treasury, usdc.mint).toBase58()
  const named = [...setup.creators.map(({ wallet }) => wallet), setup.treasury, treasuryUsdc]
  const table = await createLookupTable(world(), setup.supporter, named)
  const batch = createVerifierBatch(as('verifier', world().services))
  const tips: GenuineTip[] = []
  for (let variant = 0; variant < genuine; variant++) {
    tips.push(await tip(setup, random, table, variant))
    if (variant % 20 === 0) await batch()
  }
  const signatures = tips.map(({ signature }) => signature)
  const missing = async () => listUnconfirmed(world(), signatures)
  const none = async () => (await missing()).length === 0
  await runBatchUntil(batch, 'all are confirmed', none).catch(() => undefined)
  t.deepEqual(await missing(), [], 'a false rejection')
  for (const { signature, intentId, wallet, mint, message, how } of tips) {
    const row = await readTipRow(world(), signature)
    t.like(row, { intent_id: intentId, mint, message, fee_found: true }, how)
    const record = world().sandbox.chain.ledger.get(signature) as LedgerRecord
    t.is(BigInt(row.received_raw), balanceGain(record, wallet, mint), how)
  }
})
