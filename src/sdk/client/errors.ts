/** Whatever went wrong, in one shape. */
export class TippingError extends Error {
  override name = 'TippingError'
  /**
   * The service's stable code, such as `invalid_session_token`; `network` when no answer came, `bad_answer` when it was not
   * the service's.
   */
  readonly code: string
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** Names the request in the service's log, when there was an answer. */
  readonly requestId: string | undefined

  constructor(message: string, code: string, status: number, requestId?: string) {
    super(message)
    this.code = code
    this.status = status
    this.requestId = requestId
  }

  /** Whether the same request may succeed later without a change. */
  get temporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}
