import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { seedPrefix, signMessageBytes } from './ed25519.js'

/** A public key as a JWK (RFC 8037), for `/.well-known/tipping-keys.json`. */
export interface PublicKey {
  /** The key's thumbprint (RFC 7638). */
  readonly keyId: string
  /** 32 bytes, base64url. */
  readonly publicKey: string
}

export interface KeySigner extends PublicKey {
  /** The Ed25519 signature over exactly this text (UTF-8), base64url. */
  sign(text: string): string
}

/** `seed`: 32 bytes. */
export function createKeySigner(seed: Uint8Array): KeySigner {
  const der = Buffer.concat([seedPrefix, seed])
  const publicKey = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  }).x as string
  return {
    keyId: thumbprint(publicKey),
    publicKey,
    sign: (text) => signMessageBytes(seed, Buffer.from(text)).toString('base64url'),
  }
}

/** The members in the order of RFC 7638, without blanks. */
function thumbprint(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')
}

export function presentKey({ keyId, publicKey }: PublicKey) {
  return {
    kty: 'OKP' as const,
    crv: 'Ed25519' as const,
    alg: 'EdDSA' as const,
    use: 'sig' as const,
    kid: keyId,
    x: publicKey,
  }
}
