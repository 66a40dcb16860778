import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { encodeBase58 } from '../../../src/kernel/base58.js'

export function freshDomain(): string {
  return `d${randomBytes(6).toString('hex')}.sol`
}

/** Makes a wallet the owner of a domain. */
export async function assignDomain(
  { url }: { readonly url: string },
  domain: string,
  owner: string,
): Promise<void> {
  const body = JSON.stringify({ domain, owner })
  const answer = await fetch(`${url}/dev/domains`, { method: 'POST', body })
  if (!answer.ok) throw new Error(await answer.text())
}

/** A wallet whose key the service does not hold. */
export interface WalletHolder {
  readonly address: string
  readonly key: KeyObject
}

export function createHolder(): WalletHolder {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return { address: encodeBase58(raw), key: privateKey }
}

/** The holder's signature of a text, in base58. */
export function signText({ key }: WalletHolder, text: string): string {
  return encodeBase58(sign(null, Buffer.from(text), key))
}
