import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { encodeBase58 } from '../../../src/kernel/base58.js'

export function freshDomain(): string {
  return `d${randomBytes(6).toString('hex')}.sol`
}

/** Gives a wallet a domain, or passes it on. */
export async function plantDomain(
  { url }: { readonly url: string },
  domain: string,
  owner: string,
): Promise<void> {
  const body = JSON.stringify({ domain, owner })
  const answer = await fetch(`${url}/dev/domains`, { method: 'POST', body })
  if (!answer.ok) throw new Error(await answer.text())
}

/** Somebody with a wallet of their own, which the service holds no key of. */
export interface Holder {
  readonly address: string
  readonly key: KeyObject
}

export function newHolder(): Holder {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return { address: encodeBase58(raw), key: privateKey }
}

/** Their signature of a text, in base58. */
export function signedBy({ key }: Holder, text: string): string {
  return encodeBase58(sign(null, Buffer.from(text), key))
}
