/**
 * Holds the key-encryption keys and never gives them away: data keys go in and come out wrapped. `context` is
 * authenticated with the wrapped key, so that a key moved to another row does not unwrap.
 */
export interface Vault {
  /** The key new data keys are wrapped with; stored beside them, because older ones stay in use. */
  readonly keyVersion: number
  wrap(dataKey: Uint8Array, context: Uint8Array): Promise<Buffer>
  /** Throws SealBroken when the key or the context is another one, or the bytes are not what `wrap` returned. */
  unwrap(wrapped: Uint8Array, context: Uint8Array, keyVersion: number): Promise<Buffer>
}
