import { json, type SandboxAnswer } from '../../http-server.js'
import { errorAnswer } from './server.js'

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
const answers: Readonly<Record<'429' | 'html', SandboxAnswer>> = {
  html: { status: 502, type: 'text/html', body: garbage },
  '429': json(429, errorAnswer(null, 429, 'Too many requests for a specific RPC call')),
}

type Call = { readonly id?: unknown; readonly params?: readonly unknown[] } | null

/** The answer of a faulty node. `undefined`: the request is answered normally. */
export function faultAnswer({ answer, maxInputs }: RpcFault, body: unknown): SandboxAnswer | undefined {
  if (answer !== undefined) return answers[answer]
  if (maxInputs === undefined) return undefined
  const calls = (Array.isArray(body) ? body : [body]) as Call[]
  const refusal = (id: unknown) => errorAnswer(id, -32602, `Too many inputs provided; max ${maxInputs}`)
  // A batch that is too long gets a single answer.
  if (calls.length > maxInputs) return json(200, refusal(null))
  const inputsOf = (call: Call) => (Array.isArray(call?.params?.[0]) ? call.params[0].length : 0)
  if (!calls.some((call) => inputsOf(call) > maxInputs)) return undefined
  const refused = calls.map((call) => refusal(call?.id ?? null))
  return json(200, Array.isArray(body) ? refused : refused[0])
}
