import { PublicKey } from '@solana/web3.js'
import type { DomainRecord } from '../../ports/names.js'
import { nameProgram } from './domain-keys.js'

/** An account as it was read: the program that owns it and the beginning of its data. */
export interface NameAccount {
  readonly program: string
  readonly data: Buffer
}

/** The accounts of one domain; undefined where there is none. */
export interface DomainAccounts {
  readonly registry: NameAccount | undefined
  readonly nft: NameAccount | undefined
  readonly recordV1: NameAccount | undefined
  readonly recordV2: NameAccount | undefined
}

/** Every account of the name service begins with parent, owner and class, 32 bytes each. */
const headerBytes = 96
const keyBytes = 32
/** First byte of an NFT record while the domain is wrapped. */
const wrapped = 2
/** Kind of proof of staleness and of the right of association: a Solana signature. */
const solanaSignature = 1
/** The system program. A name transferred to it is abandoned. */
const systemProgram = '11111111111111111111111111111111'

/** Bytes that are read of an account, so that large records cost no more. */
export const readBytes = 256

/**
 * The owner and the payee of a domain, decided in the order of the name service: NFT, record 2, record 1, owner. What
 * would be a guess (the holder of an NFT, an older record's signature, a record without proof) stays undefined: a wrong
 * guess sends money to a stranger.
 */
export function verifyDomain({
  registry,
  nft,
  recordV1,
  recordV2,
}: DomainAccounts): DomainRecord | undefined {
  const owner = isNameAccount(registry) ? walletAt(registry.data, keyBytes) : undefined
  if (owner === undefined || nft?.data[0] === wrapped) return undefined
  const record = isNameAccount(recordV2) ? verifyRecord(recordV2.data, owner) : 'none'
  if (record === 'none') return { owner, payee: recordV1 === undefined ? owner : undefined }
  return { owner, payee: record }
}

/** The wallet that a record names; `none` for a former owner's record, undefined for a record without valid proof. */
function verifyRecord(account: Buffer, owner: string): string | 'none' | undefined {
  const head = account.subarray(headerBytes)
  // u16 staleness proof, u16 association proof, u32 length; then their two ids and the content.
  if (head.length < 8 + 3 * keyBytes) return undefined
  const proven = head.readUInt16LE(0) === solanaSignature && head.readUInt16LE(2) === solanaSignature
  if (!proven || head.readUInt32LE(4) !== keyBytes) return undefined
  const [stale, associated, content] = [0, 1, 2].map((n) => walletAt(head, 8 + n * keyBytes))
  if (stale !== owner) return 'none'
  return associated === content ? content : undefined
}

function isNameAccount(account: NameAccount | undefined): account is NameAccount {
  return account?.program === nameProgram.toBase58() && account.data.length >= headerBytes
}

/** The address at this offset, if it can be a wallet (on the curve, not the system program). */
function walletAt(data: Buffer, offset: number): string | undefined {
  const key = new PublicKey(data.subarray(offset, offset + keyBytes))
  const address = key.toBase58()
  return PublicKey.isOnCurve(key.toBytes()) && address !== systemProgram ? address : undefined
}
