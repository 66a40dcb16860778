/** An error that is answered to the client: a JSON-RPC code, a message and optional data. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError(-32602, message)
}
