/** What is wrong with a request. `field`: the name in the body or the query; `body` when that could not be read. */
export interface FieldProblem {
  readonly field: string
  readonly problem: string
}

/** Every error of this client: a refusal by the service or a network failure. */
export class TippingError extends Error {
  override name = 'TippingError'
  /**
   * The service's stable error code, such as `session_expired`. `network` when there was no answer, `bad_answer`
   * when the answer did not come from the service.
   */
  readonly code: string
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number
  /** Identifies the request in the service's log. Undefined when there was no answer. */
  readonly requestId: string | undefined

  /** What is wrong, for a status of 400 or 422; otherwise empty. */
  readonly details: readonly FieldProblem[]

  constructor(
    message: string,
    code: string,
    status: number,
    requestId?: string,
    details: readonly FieldProblem[] = [],
  ) {
    super(message)
    this.details = details
    this.code = code
    this.status = status
    this.requestId = requestId
  }

  /** Whether the same request may succeed later. */
  get temporary(): boolean {
    const { status, code } = this
    // Refused by the provider; any other 502 is of a proxy.
    if (/^pay(ment|out)_refused$/.test(code)) return false
    return (
      status === 0 || status === 429 || status >= 500 || /^creator_wallet_pending$|_in_progress$/.test(code)
    )
  }
}
