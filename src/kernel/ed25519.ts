import { createPublicKey, verify } from 'node:crypto'
import { decodeBase58 } from './base58.js'

/** RFC 8410: what stands before the 32 bytes of an ed25519 key in its SPKI form. */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')

/** Whether the holder of a wallet signed exactly this text (UTF-8), as wallets sign messages. Both base58. */
export function isSignedBy(address: string, text: string, signature: string): boolean {
  const key = decodeBase58(address)
  const bytes = decodeBase58(signature)
  if (key?.length !== 32 || bytes?.length !== 64) return false
  const publicKey = createPublicKey({ key: Buffer.concat([spkiHead, key]), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), publicKey, bytes)
}
