import { openBox, SealBroken, sealBox } from '../../kernel/aead.js'
import type { Vault } from '../../ports/vault.js'

const keyBytes = 32

/** A vault with one key-encryption key (32 bytes) from the settings. Wraps data keys with AES-256-GCM. */
export function createConfiguredVault(kek: Uint8Array, keyVersion = 1): Vault {
  if (kek.length !== keyBytes)
    throw new Error(`A key-encryption key has ${keyBytes} bytes, not ${kek.length}`)
  return {
    keyVersion,
    async wrap(dataKey, context) {
      return sealBox(kek, dataKey, context)
    },
    async unwrap(wrapped, context, version) {
      if (version !== keyVersion) throw new SealBroken()
      return openBox(kek, wrapped, context)
    },
  }
}
