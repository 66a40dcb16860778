import { createHmac } from 'node:crypto'
import { deriveKey, openBox, SealBroken, sealBox } from './aead.js'

/**
 * Personal data at rest (docs/decisions/0059), sealed under a key that is made from DATA_KEY for one purpose:
 *
 *     version (1 byte) | box (kernel/aead.ts)
 *
 * The version names the key, so that a later key can stand beside this one.
 */
const version = 1

export interface Sealer {
  /** `context`: where the data stands, such as a row's id. Sealed data that is copied elsewhere does not open. */
  seal(plain: string | Uint8Array, context: string): Buffer
  /** Throws SealBroken for another key, another context, and for altered or cut bytes. */
  open(sealed: Uint8Array, context: string): Buffer
}

/** Purposes are names with a number, such as `mail-address/1`. Two purposes never share one. */
export function createSealer(dataKey: Uint8Array, purpose: string): Sealer {
  const key = deriveKey(dataKey, purpose)
  const bound = (context: string): Buffer => Buffer.from(`${purpose}|${version}|${context}`)
  return {
    seal: (plain, context) =>
      Buffer.concat([Buffer.of(version), sealBox(key, Buffer.from(plain), bound(context))]),
    open(sealed, context) {
      if (sealed[0] !== version) throw new SealBroken()
      return openBox(key, sealed.subarray(1), bound(context))
    },
  }
}

/** Finds equal data without opening it. Keyed, because all account numbers and many addresses can be guessed. */
export function keyedHash(dataKey: Uint8Array, purpose: string, text: string): Buffer {
  return createHmac('sha256', deriveKey(dataKey, purpose)).update(text).digest()
}
