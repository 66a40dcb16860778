/** The record of a `.sol` domain on the chain. */
export interface DomainRecord {
  /** The wallet that owns the domain and can sign for it. */
  readonly owner: string
  /** The wallet that payments to the domain go to; undefined when it cannot be proven. */
  readonly payee: string | undefined
}

/** `.sol` domains, in the canonical form of kernel/sol-domain.ts. */
export interface Names {
  /**
   * Reads the chain now. Undefined when there is no such domain, or it is held in a way we do not follow (as an NFT, by
   * a program). Throws ProviderError when there is no usable answer, Overloaded when too many calls are waiting.
   */
  fetch(domain: string): Promise<DomainRecord | undefined>
  /** As `fetch`, but accepts a record of the last minute. Concurrent calls for one domain share a request. */
  fetchOrCached(domain: string): Promise<DomainRecord | undefined>
  /**
   * For lists: a record of the last ten minutes, else one read within two seconds, else the last one known. Undefined also
   * when nothing is known. Never throws.
   */
  fetchOrKnown(domain: string): Promise<DomainRecord | undefined>
}
