/**
 * What a failed call to the outside means. `rejected`: the provider understood and refused. `unavailable`: it
 * surely did nothing. `ambiguous`: it may have acted. Set by the adapter from status and code, never guessed from text.
 */
export type ProviderErrorKind = 'rejected' | 'unavailable' | 'ambiguous'

/** A call to a provider that brought no usable answer. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider's HTTP status or JSON-RPC code, when it answered at all. */
  readonly code: number | undefined
  constructor(kind: ProviderErrorKind, message: string, code?: number) {
    super(message)
    this.kind = kind
    this.code = code
  }
}
