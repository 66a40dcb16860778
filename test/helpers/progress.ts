interface Waiting {
  readonly at: number
  readonly tell: () => void
}

/**
 * How far a run has come, in tips written: the clock of everybody who takes part. What they wait for is that so much
 * more has happened, so that a slow machine makes the run longer and not poorer.
 */
export class Progress {
  #done = 0
  #over = false
  readonly #waiting = new Set<Waiting>()

  get done(): number {
    return this.#done
  }
  get over(): boolean {
    return this.#over
  }

  add(count: number): void {
    this.#done += count
    this.#tell()
  }

  /** Ends the run: nobody waits any longer. */
  end(): void {
    this.#over = true
    this.#tell()
  }

  /** Resolves when so much more is done than now, or the run is over. */
  more(count: number): Promise<void> {
    return new Promise((tell) => {
      this.#waiting.add({ at: this.#done + count, tell })
      this.#tell()
    })
  }

  #tell(): void {
    for (const waiting of this.#waiting) {
      if (!this.#over && this.#done < waiting.at) continue
      this.#waiting.delete(waiting)
      waiting.tell()
    }
  }
}
