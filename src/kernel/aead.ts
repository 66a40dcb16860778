import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** Thrown when a sealed box does not open: wrong key, wrong context, altered or cut short. Does not say which. */
export class SealBroken extends Error {
  override name = 'SealBroken'
  constructor() {
    super('The sealed box does not open')
  }
}

/**
 * Encrypts with AES-256-GCM under a 32-byte key. The box is iv (12 bytes) | tag (16) | ciphertext, and opens only
 * with the same `context`. The iv is random: use a key for far fewer than 2^32 boxes (NIST SP 800-38D, 8.3).
 */
export function sealBox(key: Uint8Array, plain: Uint8Array, context: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(context)
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext])
}

/** The plain bytes of a box made by `sealBox`. Throws SealBroken for everything else. */
export function openBox(key: Uint8Array, box: Uint8Array, context: Uint8Array): Buffer {
  if (box.length < ivBytes + tagBytes) throw new SealBroken()
  const tagEnd = ivBytes + tagBytes
  const decipher = createDecipheriv(algorithm, key, box.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(context).setAuthTag(box.subarray(ivBytes, tagEnd))
  try {
    return Buffer.concat([decipher.update(box.subarray(tagEnd)), decipher.final()])
  } catch {
    throw new SealBroken()
  }
}

/** A key for one purpose, made from another key (HKDF-SHA256, RFC 5869). */
export function deriveKey(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', purpose, 32))
}
