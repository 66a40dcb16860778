import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { isAddress } from '../../../src/kernel/base58.js'
import type { ActiveFault } from '../active-fault.js'
import { RpcError } from '../chain/rpc/error.js'
import type { CallCounter } from '../counters.js'
import { json, type Route, type SandboxAnswer, type SandboxRequest } from '../http-route.js'
import { type Endpoint, type EngineFault, noFault, outageAnswer } from './engine-fault.js'

const u64Max = 2n ** 64n - 1n

/** A refusal of an engine, answered as JSON. */
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

/** Makes a route of an engine's endpoint: counts the requests and applies the active fault. */
export function engineRoute(
  faults: ActiveFault<EngineFault>,
  calls: CallCounter,
  endpoint: Endpoint,
  handle: Handler,
): Route {
  return async (request) => {
    calls.add(endpoint)
    const fault = faults.take((active) => (active.endpoint ?? endpoint) === endpoint) ?? noFault
    // The timer alone must not keep the process alive.
    if (fault.delayMs) await delay(fault.delayMs, undefined, { ref: false })
    try {
      return outageAnswer(fault) ?? (await handle(request, fault))
    } catch (error) {
      if (error instanceof EngineError) return json(error.status, error.body)
      // The chain cannot decode the transaction of these parties, for example because a program is a signer.
      if (error instanceof RpcError) return json(400, { error: error.message })
      throw error
    }
  }
}

// The real engines are written in Rust. The messages are the ones of their parsers.
export const address = z.string('missing').refine(isAddress, 'Invalid')
/** Base units: a u64 as text. */
export const rawAmount = z
  .string('missing')
  .regex(/^\d{1,20}$/, 'ParseIntError { kind: InvalidDigit }')
  .transform(BigInt)
  .refine((amount) => amount <= u64Max, 'ParseIntError { kind: PosOverflow }')

/** Parses the query with its schema. An empty parameter counts as absent. `refuse` makes the error of an invalid one. */
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

/**
 * Parses the JSON body with its schema.
 * @throws EngineError 400 with a description of the fault
 */
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
