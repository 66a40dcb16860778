/** An error that is answered to the client as it is: a JSON-RPC code, a message and, for some, data. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** -32602: what the caller sent cannot be used. */
export function invalidParams(message: string): RpcError {
  return new RpcError(-32602, message)
}
