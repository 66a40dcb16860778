import { PublicKey } from '@solana/web3.js'
import type { DomainRecord } from '../../ports/names.js'
import { nameProgram } from './domain-keys.js'

/** An account as it was read: the program it belongs to and the beginning of its data. */
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
/** How a record proves its staleness and its right of association: 1 is a Solana signature. */
const bySolana = 1
/** The system program: names given to it are given up, lamports too. */
const nobody = '11111111111111111111111111111111'

/** Bytes of an account that are looked at; records of any size cost no more. */
export const readBytes = 256

/**
 * Whose domain it is and where it pays to, in the order the name service itself decides: NFT, record 2, record 1,
 * owner. What would have to be guessed (the holder of an NFT, an older record's signature, a record without
 * proof) is left open instead: a wrong guess sends money to a stranger.
 */
export function judgeDomain({ registry, nft, recordV1, recordV2 }: DomainAccounts): DomainRecord | undefined {
  const owner = isOurs(registry) ? walletAt(registry.data, keyBytes) : undefined
  if (owner === undefined || nft?.data[0] === wrapped) return undefined
  const record = isOurs(recordV2) ? judgeRecord(recordV2.data, owner) : 'none'
  if (record === 'none') return { owner, payee: recordV1 === undefined ? owner : undefined }
  return { owner, payee: record }
}

/** The wallet a record names, `none` when it is a former owner's, undefined when it proves nothing. */
function judgeRecord(account: Buffer, owner: string): string | 'none' | undefined {
  const head = account.subarray(headerBytes)
  // u16 staleness proof, u16 association proof, u32 length; then their two ids and the content.
  if (head.length < 8 + 3 * keyBytes) return undefined
  const solana = head.readUInt16LE(0) === bySolana && head.readUInt16LE(2) === bySolana
  if (!solana || head.readUInt32LE(4) !== keyBytes) return undefined
  const [stale, associated, content] = [0, 1, 2].map((n) => walletAt(head, 8 + n * keyBytes))
  if (stale !== owner) return 'none'
  return associated === content ? content : undefined
}

function isOurs(account: NameAccount | undefined): account is NameAccount {
  return account?.program === nameProgram.toBase58() && account.data.length >= headerBytes
}

/** The address at this offset if somebody can hold its key. */
function walletAt(data: Buffer, offset: number): string | undefined {
  const key = new PublicKey(data.subarray(offset, offset + keyBytes))
  const address = key.toBase58()
  return PublicKey.isOnCurve(key.toBytes()) && address !== nobody ? address : undefined
}
