/**
 * What a failed call to a provider means. `rejected`: the provider understood and refused. `unavailable`: it
 * surely did nothing. `ambiguous`: it may have acted. The adapter decides from status and code, never from text.
 */
export type ProviderErrorKind = 'rejected' | 'unavailable' | 'ambiguous'

/** A call to a provider gave no usable answer. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider's HTTP status or JSON-RPC code; undefined when it did not answer. */
  readonly code: number | undefined
  constructor(kind: ProviderErrorKind, message: string, code?: number) {
    super(message)
    this.kind = kind
    this.code = code
  }
}

/**
 * The answer of a provider has another form than it documents. The message names the field and what is expected there, and no
 * value, which may be anybody's data.
 */
export function undocumented(
  what: string,
  {
    issues: [issue],
  }: { readonly issues: readonly { readonly path: PropertyKey[]; readonly message: string }[] },
): ProviderError {
  const path = issue?.path.map(String).join('.') || 'the answer'
  return new ProviderError('ambiguous', `${what} (${path}: ${issue?.message ?? 'invalid'})`)
}
