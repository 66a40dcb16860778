import { openBox, SealBroken, sealBox } from '../../kernel/aead.js'
import type { Vault } from '../../ports/vault.js'

const keyBytes = 32

/**
 * A vault with key-encryption keys (32 bytes) from the settings, by version; one key alone is version 1. Wraps data keys with
 * AES-256-GCM under the newest.
 */
export function createConfiguredVault(keys: Uint8Array | ReadonlyMap<number, Uint8Array>): Vault {
  const keks = keys instanceof Uint8Array ? new Map([[1, keys]]) : keys
  for (const { length } of keks.values())
    if (length !== keyBytes) throw new Error(`A key-encryption key has ${keyBytes} bytes, not ${length}`)
  const keyVersions = [...keks.keys()].sort((one, other) => other - one)
  const [newest] = keyVersions
  if (newest === undefined) throw new Error('A vault needs a key-encryption key')
  return {
    keyVersion: newest,
    keyVersions,
    async wrap(dataKey, context, version = newest) {
      const kek = keks.get(version)
      if (kek === undefined) throw new Error(`The vault has no key-encryption key of version ${version}`)
      return sealBox(kek, dataKey, context)
    },
    async unwrap(wrapped, context, version) {
      const kek = keks.get(version)
      if (kek === undefined) throw new SealBroken()
      return openBox(kek, wrapped, context)
    },
  }
}
