import { createSealer, keyedHash } from '../kernel/personal-data.js'

/** The e-mail address of somebody without an account, as it is stored. */
export interface SealedAddress {
  readonly sealed: Buffer
}

const purpose = 'mail-address/1'
/** An address stands in several rows: of the payer, and of each e-mail to them. */
const anywhere = ''

export function sealAddress(dataKey: Uint8Array, address: string): Buffer {
  return createSealer(dataKey, purpose).seal(address, anywhere)
}

/** Throws SealBroken. */
export function openAddress(dataKey: Uint8Array, sealed: Uint8Array): string {
  return createSealer(dataKey, purpose).open(sealed, anywhere).toString()
}

/** Equal for the same address in its stored form (`parseEmailAddress`), and only then. */
export function addressHash(dataKey: Uint8Array, address: string): Buffer {
  return keyedHash(dataKey, 'mail-address-hash/1', address)
}
