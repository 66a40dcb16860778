import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { isAddress } from '../../../src/kernel/base58.js'
import type { CallCounter } from '../call-counter.js'
import { RpcError } from '../chain/rpc/error.js'
import { json, type Route, type SandboxAnswer, type SandboxRequest } from '../exchange.js'
import { type Endpoint, type EngineFault, type EngineFaults, refusal } from './engine-fault.js'

const u64Max = 2n ** 64n - 1n

/** A refusal in an engine's own words, answered as JSON. */
export class EngineError extends Error {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(String(body['error']))
    this.status = status
    this.body = body
  }
}

type Handler = (request: SandboxRequest, fault: EngineFault) => SandboxAnswer | Promise<SandboxAnswer>

/** An endpoint of an engine: counted, and subject to the fault in force. */
export function engineRoute(
  faults: EngineFaults,
  calls: CallCounter,
  endpoint: Endpoint,
  handle: Handler,
): Route {
  return async (request) => {
    calls.add(endpoint)
    const fault = faults.take(endpoint)
    // Whoever asked may have given up and gone: the wait alone keeps no process.
    if (fault.delayMs) await delay(fault.delayMs, undefined, { ref: false })
    try {
      return refusal(fault) ?? (await handle(request, fault))
    } catch (error) {
      if (error instanceof EngineError) return json(error.status, error.body)
      // The chain takes no transaction such as these parties would make, a program among the signers say.
      if (error instanceof RpcError) return json(400, { error: error.message })
      throw error
    }
  }
}

// The engines are written in Rust, and their messages say so.
export const address = z.string('missing').refine(isAddress, 'Invalid')
/** Base units: a whole number of at most 64 bits, as text. */
export const rawAmount = z
  .string('missing')
  .regex(/^\d{1,20}$/, 'ParseIntError { kind: InvalidDigit }')
  .transform(BigInt)
  .refine((amount) => amount <= u64Max, 'ParseIntError { kind: PosOverflow }')

/**
 * The query of a request as its schema wants it, absent parameters and empty ones being the same.
 * `refuse` makes the error of a parameter that does not fit.
 */
export function readQuery<Schema extends z.ZodType>(
  schema: Schema,
  { url }: SandboxRequest,
  refuse: (parameter: string, reason: string) => EngineError,
): z.output<Schema> {
  const given = Object.fromEntries([...url.searchParams].filter(([, value]) => value !== ''))
  const checked = schema.safeParse(given)
  if (checked.success) return checked.data
  const { path = [], message = 'Invalid' } = checked.error.issues[0] ?? {}
  throw refuse(path.join('.'), message)
}

/** The JSON body of a request as its schema wants it. Throws an EngineError 400 that says what is wrong. */
export function readJson<Schema extends z.ZodType>(
  schema: Schema,
  { body }: SandboxRequest,
): z.output<Schema> {
  const checked = schema.safeParse(parsed(body))
  if (checked.success) return checked.data
  const { path = [], message = 'invalid value' } = checked.error.issues[0] ?? {}
  throw new EngineError(400, { error: `Failed to deserialize the JSON body: ${path.join('.')}: ${message}` })
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw new EngineError(400, { error: 'Failed to parse the request body as JSON' })
  }
}
