import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { solMint } from '../../src/kernel/tokens.js'
import { buildTransfer } from '../../src/providers/solana/build-transfer.js'

/** A tip as its client reports it, with the data of its payment intent. */
export interface SignedTipClaim {
  readonly signature: string
  readonly sender: string
  readonly recipient: string
  readonly referenceKey: string
  /** Lamports that the recipient received. */
  readonly net: number
  /** Lamports that the treasury received. */
  readonly fee: number
  /** The unsigned transaction of the intent, base64. */
  readonly issued: string
}

export interface SignedTip {
  readonly claim: SignedTipClaim
  /** The result of `getTransaction`. */
  readonly reply: unknown
}

/** The slot of all tips. */
export const tipSlot = 1000
const people = 32
const networkFee = 5000

/** Creates different tips between 32 supporters and 32 creators. They are signed, but not executed by a chain. */
export function createSignedTips(tips: number, treasury: string): SignedTip[] {
  const senders = Array.from({ length: people }, () => Keypair.generate())
  const recipients = Array.from({ length: people }, () => Keypair.generate().publicKey.toBase58())
  return Array.from({ length: tips }, (_, index) => {
    const sender = senders[index % people] as Keypair
    return createSignedTip(sender, recipients[index % people] as string, treasury, 100_000_000 + index)
  })
}

function createSignedTip(keypair: Keypair, recipient: string, treasury: string, gross: number): SignedTip {
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
    slot: tipSlot,
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
