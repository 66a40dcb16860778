/** The options of `npm run bench` that a benchmark may read. */
export interface BenchOptions {
  /** `lists`: the greater number of tips. */
  readonly rows?: number | undefined
  /** Repetitions whose median counts. Default: each benchmark's own number. */
  readonly rounds?: number | undefined
  /** `streams`: the open streams. */
  readonly clients?: number | undefined
}

/** One figure of the service, for comparing two releases. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly better: 'lower' | 'higher'
}

export interface Outcome {
  readonly table: string
  readonly results: unknown
  readonly figures?: readonly Figure[]
  /** What missed its goal, when that fails the benchmark. */
  readonly fault?: string | undefined
}
