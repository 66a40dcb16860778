/** The fault that is active, until it is replaced or for as many requests as it says (`times`). */
export class ActiveFault<Fault extends { readonly times?: number | undefined }> {
  #fault: Fault | undefined
  #left = 0

  set(fault: Fault): void {
    this.#fault = fault
    this.#left = fault.times ?? Number.POSITIVE_INFINITY
  }

  clear(): void {
    this.#left = 0
  }

  get current(): Fault | undefined {
    return this.#left > 0 ? this.#fault : undefined
  }

  /** Returns the fault for a request that it is about, and counts it. */
  take(isAbout: (fault: Fault) => boolean = () => true): Fault | undefined {
    const fault = this.current
    if (fault === undefined || !isAbout(fault)) return undefined
    this.#left -= 1
    return fault
  }
}
