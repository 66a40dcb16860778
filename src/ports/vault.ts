/**
 * Holds the key-encryption keys and never returns them: it wraps and unwraps data keys (docs/decisions/0059). `context`
 * is authenticated with the wrapped key, so that a key copied to another row does not unwrap.
 */
export interface Vault {
  /** The newest key, which wraps new data keys. Stored with each wrapped key, because older keys stay in use. */
  readonly keyVersion: number
  /** The versions that `unwrap` knows, newest first. */
  readonly keyVersions: readonly number[]
  /** `keyVersion`: the newest, unless a check of an older key is made. */
  wrap(dataKey: Uint8Array, context: Uint8Array, keyVersion?: number): Promise<Buffer>
  /** Throws SealBroken for another key or context, or for bytes that `wrap` did not return. */
  unwrap(wrapped: Uint8Array, context: Uint8Array, keyVersion: number): Promise<Buffer>
}
