/** The provider's numbers of things. None is given twice, not even by a stand-in that was reset or started anew. */
export class Ids {
  #last = 0

  /** Larger than any before it: milliseconds since 1970, or one more than the last. */
  next(): number {
    this.#last = Math.max(this.#last + 1, Date.now())
    return this.#last
  }

  /** Numbers up to this one are taken. */
  skip(id: number): void {
    this.#last = Math.max(this.#last, id)
  }
}
