import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { encodeBase58 } from '../../kernel/base58.js'

const keyBytes = 32

export interface KeyPair {
  /** The wallet's address: the ed25519 public key in base58. */
  readonly publicKey: string
  /** Solana's secret key format: 64 bytes, seed then public key. Overwrite it after use. */
  readonly secret: Buffer
}

/** A new ed25519 key pair from the operating system's random source. */
export function newKeyPair(): KeyPair {
  const pair = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  })
  // RFC 8410: in both encodings the raw key is the last 32 bytes.
  const raw = pair.publicKey.subarray(-keyBytes)
  const secret = Buffer.concat([pair.privateKey.subarray(-keyBytes), raw])
  pair.privateKey.fill(0)
  return { publicKey: encodeBase58(raw), secret }
}

/** RFC 8410: an ed25519 private key in PKCS #8 is these bytes, then the seed. */
const privateKeyHeader = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The address that belongs to a secret, computed from its seed. Undefined: not a secret of this format. */
export function addressOf(secret: Uint8Array): string | undefined {
  if (secret.length !== 2 * keyBytes) return undefined
  const der = Buffer.concat([privateKeyHeader, secret.subarray(0, keyBytes)])
  try {
    const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
    const raw = key.export({ format: 'der', type: 'spki' }).subarray(-keyBytes)
    return raw.equals(secret.subarray(keyBytes)) ? encodeBase58(raw) : undefined
  } finally {
    der.fill(0)
  }
}
