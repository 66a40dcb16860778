import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { solMint } from '../../src/kernel/tokens.js'
import { buildTransfer } from '../../src/providers/solana/build-transfer.js'

/** A tip as its client would report it, and what our intent for it would hold. */
export interface LandedClaim {
  readonly signature: string
  readonly sender: string
  readonly recipient: string
  readonly referenceKey: string
  /** Lamports the recipient got. */
  readonly net: number
  /** Lamports the treasury got. */
  readonly fee: number
  /** The transaction as it was issued, unsigned, base64. */
  readonly issued: string
}

export interface Landed {
  readonly claim: LandedClaim
  /** What `getTransaction` answers. */
  readonly reply: unknown
}

/** The slot all of them landed in. */
export const landedSlot = 1000
const people = 32
const networkFee = 5000

/** So many tips between 32 supporters and 32 creators, no two alike: really signed, though no chain executed them. */
export function landTips(tips: number, treasury: string): Landed[] {
  const senders = Array.from({ length: people }, () => Keypair.generate())
  const recipients = Array.from({ length: people }, () => Keypair.generate().publicKey.toBase58())
  return Array.from({ length: tips }, (_, index) => {
    const sender = senders[index % people] as Keypair
    return land(sender, recipients[index % people] as string, treasury, 100_000_000 + index)
  })
}

function land(keypair: Keypair, recipient: string, treasury: string, gross: number): Landed {
  const sender = keypair.publicKey.toBase58()
  const fee = Math.floor(gross / 50)
  const net = gross - fee
  const referenceKey = Keypair.generate().publicKey.toBase58()
  const issued = buildTransfer({
    mint: solMint,
    decimals: 9,
    sender,
    recipient,
    treasury,
    net: BigInt(net),
    fee: BigInt(fee),
    referenceKey,
    blockhash: recipient,
  })
  const transaction = VersionedTransaction.deserialize(issued)
  transaction.sign([keypair])
  const signature = encodeBase58(transaction.signatures[0] ?? new Uint8Array())
  const moved = new Map([
    [sender, -gross - networkFee],
    [recipient, net],
    [treasury, fee],
  ])
  return {
    claim: { signature, sender, recipient, referenceKey, net, fee, issued: base64(issued) },
    reply: replyFor(transaction, moved),
  }
}

function replyFor(transaction: VersionedTransaction, moved: ReadonlyMap<string, number>): unknown {
  const keys = transaction.message.staticAccountKeys.map((key) => key.toBase58())
  const before = 10 ** 12
  return {
    slot: landedSlot,
    blockTime: Math.floor(Date.now() / 1000),
    transaction: [base64(transaction.serialize()), 'base64'],
    meta: {
      err: null,
      fee: networkFee,
      preBalances: keys.map(() => before),
      postBalances: keys.map((key) => before + (moved.get(key) ?? 0)),
      preTokenBalances: [],
      postTokenBalances: [],
      loadedAddresses: { writable: [], readonly: [] },
    },
    version: 0,
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
