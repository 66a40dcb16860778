/** What the chain says of a `.sol` domain. */
export interface DomainRecord {
  /** The wallet that holds the domain and can sign for it. */
  readonly owner: string
  /** Where payments to the domain go; undefined when that cannot be told beyond doubt. */
  readonly payee: string | undefined
}

/** `.sol` domains, in the form of kernel/sol-domain.ts. */
export interface Names {
  /**
   * Asks the network now. Undefined: there is no such domain, or it is held in a way that is not followed (as an
   * NFT, by a program). Throws ProviderError when there is no usable answer, Overloaded when too many are asking.
   */
  read(domain: string): Promise<DomainRecord | undefined>
  /** As `read`, but content with what was read in the last minute; who asks at the same moment shares the question. */
  lookup(domain: string): Promise<DomainRecord | undefined>
  /** What was read in the last minute, without asking anybody. */
  known(domain: string): DomainRecord | undefined
}
