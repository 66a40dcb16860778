import { createSealer, type DataKeys, keyedHash } from '../kernel/personal-data.js'
import { type SealedColumn, sealedBatchSize } from '../platform/database/sealed-column.js'

/** The e-mail address of somebody without an account, as it is stored. */
export interface SealedAddress {
  readonly sealed: Buffer
}

export const addressPurpose = 'mail-address/1'
/** An address stands in several rows: of the payer, and of each e-mail to them. */
const anywhere = ''

/** The addresses of e-mails to people without an account. */
export const sealedRecipients: SealedColumn = {
  table: 'emails',
  column: 'sealed_recipient',
  id: 'id',
  idType: 'uuid',
  purpose: addressPurpose,
  context: "''",
  batchSize: sealedBatchSize,
}

export function sealAddress(dataKeys: DataKeys, address: string): Buffer {
  return createSealer(dataKeys, addressPurpose).seal(address, anywhere)
}

/** Throws SealBroken. */
export function openAddress(dataKeys: DataKeys, sealed: Uint8Array): string {
  return createSealer(dataKeys, addressPurpose).open(sealed, anywhere).toString()
}

/** Equal for the same address in its stored form (`parseEmailAddress`), and only then. */
export function addressHash(dataKeys: DataKeys, address: string): Buffer {
  return keyedHash(dataKeys, 'mail-address-hash/1', address)
}
