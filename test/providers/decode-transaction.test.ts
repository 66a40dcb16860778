import { createHash } from 'node:crypto'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { messageHash, messageOf, readSignedAccounts } from '../../src/kernel/wire-transaction.js'
import { decodeTransaction } from '../../src/providers/solana/decode-transaction.js'
import { versionOneTransfer } from './version-one.js'

const [sender, recipient] = [Keypair.generate(), Keypair.generate()]
const programId = SystemProgram.programId
const recentBlockhash = encodeBase58(Buffer.alloc(32, 7))
const landed = { slot: 5, blockTime: 1_700_000_000, fee: 5000 }

/** A signed transfer of one million lamports, in one of the three transaction formats. */
function transferIn(version: 'legacy' | 0 | 1): {
  raw: Uint8Array
  message: Uint8Array
  signature: Uint8Array
} {
  const lamports = 1_000_000
  const instruction = SystemProgram.transfer({
    fromPubkey: sender.publicKey,
    toPubkey: recipient.publicKey,
    lamports,
  })
  const plain = new TransactionMessage({
    payerKey: sender.publicKey,
    recentBlockhash,
    instructions: [instruction],
  })
  if (version === 1)
    return versionOneTransfer([sender.publicKey, recipient.publicKey, programId], instruction.data)
  const transaction = new VersionedTransaction(
    version === 0 ? plain.compileToV0Message() : plain.compileToLegacyMessage(),
  )
  transaction.sign([sender])
  const [signature = new Uint8Array()] = transaction.signatures
  return { raw: transaction.serialize(), message: transaction.message.serialize(), signature }
}

for (const version of ['legacy', 0, 1] as const)
  test(`a transaction of version ${version} is decoded: signers, balance changes and message hash`, (t) => {
    const { raw, message, signature } = transferIn(version)
    t.deepEqual(Buffer.from(messageOf(raw)), Buffer.from(message))
    const { slot, blockTime, fee } = landed
    const meta = { err: null, fee, preBalances: [10_000_000, 0, 1], postBalances: [8_995_000, 1_000_000, 1] }
    const reply = { slot, blockTime, transaction: [Buffer.from(raw).toString('base64'), 'base64'], meta }
    const transaction = decodeTransaction(encodeBase58(signature), reply)
    const [from, to] = [sender.publicKey.toBase58(), recipient.publicKey.toBase58()]
    t.like(transaction, { failed: false, slot: 5n, feePayer: from, networkFee: 5000n })
    t.deepEqual(transaction?.signers, new Set([from]))
    t.is(transaction?.lamports.get(to), 1_000_000n)
    t.is(transaction?.messageHash, createHash('sha256').update(message).digest('hex'))
    t.is(messageHash(raw).toString('hex'), transaction?.messageHash ?? '')
  })

for (const [version, headBytes] of [
  ['legacy', 165],
  [0, 166],
  [1, 202],
] as const)
  test(`signers and accounts of version ${version} are those that web3.js reads, and less than them is nothing`, (t) => {
    const { raw } = transferIn(version)
    const { signatures, message } = VersionedTransaction.deserialize(raw)
    const expected = {
      signature: encodeBase58(signatures[0] as Uint8Array),
      accounts: message.staticAccountKeys.map((key) => key.toBase58()),
      signerCount: message.header.numRequiredSignatures,
    }
    t.deepEqual(readSignedAccounts(raw), expected)
    for (let length = 0; length < raw.length; length++)
      t.is(readSignedAccounts(raw.subarray(0, length)) === undefined, length < headBytes, `${length} bytes`)
    for (const first of [0x82, 0xff])
      t.is(readSignedAccounts(Uint8Array.from([first, ...raw.subarray(1)])), undefined)
  })
