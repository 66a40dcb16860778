/** Wrong arguments; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The command refuses to do what was asked; exit code 1. `json`: further keys of the answer for programs. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly json: Readonly<Record<string, unknown>>

  constructor(message: string, json: RefusedError['json'] = {}) {
    super(message)
    this.json = json
  }
}

/** --confirm is missing or wrong; exit code 3. */
export class UnconfirmedError extends Error {
  override name = 'UnconfirmedError'
}
