import { generateKeyPairSync } from 'node:crypto'
import { encodeBase58 } from '../../kernel/base58.js'

/** A public key nobody holds the secret of: only its uniqueness is used. */
export function newReferenceKey(): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  return encodeBase58(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
}
