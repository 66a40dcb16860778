import { json, type SandboxAnswer } from '../../http-server.js'

/**
 * How the RPC node misbehaves. `answer`: what it answers instead of a result. `maxInputs`: calls with a longer first list,
 * and longer batches, are refused with -32602 "Too many inputs". `times`: for how many HTTP requests; without it until it is
 * changed.
 */
export interface RpcFault {
  readonly answer?: '429' | 'html'
  readonly maxInputs?: number
  readonly times?: number
}

const garbage =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>'

/** The answer of a faulty node. `undefined`: the request is answered normally. */
export function faultAnswer(fault: RpcFault, body: unknown): SandboxAnswer | undefined {
  if (fault.answer === 'html') return { status: 502, type: 'text/html', body: garbage }
  if (fault.answer === '429') {
    return json(429, {
      jsonrpc: '2.0',
      id: null,
      error: { code: 429, message: 'Too many requests for a specific RPC call' },
    })
  }
  const { maxInputs } = fault
  if (maxInputs === undefined) return undefined
  const error = { code: -32602, message: `Too many inputs provided; max ${maxInputs}` }
  // A batch that is too long gets a single answer.
  if (calls(body).length > maxInputs) return json(200, { jsonrpc: '2.0', id: null, error })
  if (!calls(body).some((call) => inputsOf(call) > maxInputs)) return undefined
  const answers = calls(body).map((call) => ({ jsonrpc: '2.0', id: idOf(call), error }))
  return json(200, Array.isArray(body) ? answers : answers[0])
}

function calls(body: unknown): unknown[] {
  return Array.isArray(body) ? body : [body]
}

function idOf(call: unknown): unknown {
  return (call as { id?: unknown } | null)?.id ?? null
}

function inputsOf(call: unknown): number {
  const params = (call as { params?: unknown } | null)?.params
  const first = Array.isArray(params) ? params[0] : undefined
  return Array.isArray(first) ? first.length : 0
}
