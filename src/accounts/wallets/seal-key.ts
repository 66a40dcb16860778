import { randomBytes } from 'node:crypto'
import { openBox, SealBroken, sealBox } from '../../kernel/aead.js'
import type { Vault } from '../../ports/vault.js'

/**
 * The sealed secret of a wallet, format 1 (lengths in bytes):
 *
 *     format (1) = 1 | length of the wrapped data key (2, big endian) | wrapped data key | box
 *
 * Each wallet has its own data key (32), wrapped by the vault. The box is AES-256-GCM under the data key
 * (kernel/aead.ts). Both have the format and the wallet's identity as additional data, so a secret that is copied to
 * another row or public key does not open.
 */
const format = 1
const headerBytes = 3
const dataKeyBytes = 32

/** The row a sealed secret belongs to. */
export interface WalletIdentity {
  readonly walletId: bigint
  readonly userId: string
  readonly publicKey: string
  readonly keyVersion: number
}

/** Seals a wallet's secret for this identity only. `identity.keyVersion` must be the vault's current one. */
export async function sealKey(vault: Vault, secret: Uint8Array, identity: WalletIdentity): Promise<Buffer> {
  const context = contextOf(identity)
  const dataKey = randomBytes(dataKeyBytes)
  try {
    const wrapped = await vault.wrap(dataKey, context)
    const header = Buffer.alloc(headerBytes)
    header.writeUInt8(format, 0)
    header.writeUInt16BE(wrapped.length, 1)
    return Buffer.concat([header, wrapped, sealBox(dataKey, secret, context)])
  } finally {
    dataKey.fill(0)
  }
}

/** Opens a sealed secret. Throws SealBroken when the bytes are altered, cut short or belong to another wallet. */
export async function unsealKey(vault: Vault, sealed: Uint8Array, identity: WalletIdentity): Promise<Buffer> {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < headerBytes || bytes.readUInt8(0) !== format) throw new SealBroken()
  const wrappedEnd = headerBytes + bytes.readUInt16BE(1)
  if (bytes.length < wrappedEnd) throw new SealBroken()
  const context = contextOf(identity)
  const dataKey = await vault.unwrap(bytes.subarray(headerBytes, wrappedEnd), context, identity.keyVersion)
  try {
    return openBox(dataKey, bytes.subarray(wrappedEnd), context)
  } finally {
    dataKey.fill(0)
  }
}

/** No part can contain the separator, so two identities never give the same bytes. */
function contextOf({ walletId, userId, publicKey, keyVersion }: WalletIdentity): Buffer {
  return Buffer.from(`wallet/${format}|${walletId}|${userId}|${publicKey}|${keyVersion}`)
}
