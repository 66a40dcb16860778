import { z } from 'zod'
import { json, type SandboxAnswer } from '../exchange.js'

const delayMsMax = 120_000

/** What a whole engine can do wrong, and what it can put into the transactions it builds. */
const commonModes = [
  'ok',
  // 503 from the load balancer; 429; 200 with a page; no route for any pair.
  'down',
  'rate-limited',
  'garbage',
  'no-route',
  // A market maker who signs too; no fee for us, and said so; larger than a packet.
  'second-signer',
  'no-fee',
  'oversized',
  // Lies: a tenth less than promised, to somebody else, a payment of its own, a program nobody knows.
  'pays-less',
  'pays-another',
  'batches',
  'unknown-program',
] as const
/** `error-code`: a quote with an error code in place of a transaction. */
const ultraModes = [...commonModes, 'error-code'] as const

export type Mode = (typeof ultraModes)[number]

/** How the last valid block height is told. */
const heights = ['number', 'text', 'none'] as const
type Height = (typeof heights)[number]

const endpoints = ['order', 'execute', 'quote', 'swap', 'swap-instructions'] as const
export type Endpoint = (typeof endpoints)[number]

/** The last valid block height as an engine tells it. */
export function heightTold(lastValidBlockHeight: number, height: Height) {
  if (height === 'none') return {}
  return { lastValidBlockHeight: height === 'text' ? String(lastValidBlockHeight) : lastValidBlockHeight }
}

/** An engine's misbehaviour. */
export interface EngineFault {
  readonly mode: Mode
  readonly height?: Height | undefined
  readonly delayMs?: number | undefined
  /** Only there. */
  readonly endpoint?: Endpoint | undefined
  /** For how many requests; without it until changed. */
  readonly times?: number | undefined
}

const details = {
  height: z.enum(heights).optional(),
  delayMs: z.int().nonnegative().max(delayMsMax).optional(),
  endpoint: z.enum(endpoints).optional(),
  times: z.int().positive().optional(),
}

/** A mode alone, or an object with details. */
function faultSchema<Named extends z.ZodType<Mode>>(mode: Named) {
  return z
    .union([
      mode.transform((name) => ({ mode: name })),
      z.strictObject({ mode: mode.optional(), ...details }),
    ])
    .transform((fault): EngineFault => ({ ...fault, mode: fault.mode ?? 'ok' }))
}

export const ultraFaultSchema = faultSchema(z.enum(ultraModes))
export const v6FaultSchema = faultSchema(z.enum(commonModes))

/** An engine that behaves. */
export const noFault: EngineFault = { mode: 'ok' }

/** The fault in force at one engine. */
export class EngineFaults {
  #fault: EngineFault = noFault
  #left = 0

  /** Replaces what was in force. */
  set(fault: EngineFault): void {
    this.#fault = fault
    this.#left = fault.times ?? Number.POSITIVE_INFINITY
  }

  /** What is in force now. */
  get current(): EngineFault {
    return this.#left > 0 ? this.#fault : noFault
  }

  /** The fault a request to this endpoint meets; counts it. */
  take(endpoint: Endpoint): EngineFault {
    const fault = this.current
    if (fault === noFault || (fault.endpoint ?? endpoint) !== endpoint) return noFault
    this.#left -= 1
    return fault
  }
}

const page = '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking…</body></html>'
const retrySeconds = 1

/** The answer of an engine that does not get as far as looking at the request, if it is one. */
export function refusal({ mode }: EngineFault): SandboxAnswer | undefined {
  if (mode === 'down') return { status: 503, type: 'text/plain', body: 'no healthy upstream' }
  if (mode === 'garbage') return { status: 200, type: 'text/html', body: page }
  if (mode !== 'rate-limited') return undefined
  const reset = String(Math.ceil(Date.now() / 1000) + retrySeconds)
  return {
    ...json(429, { code: 429, message: '[API Gateway] Too many requests' }),
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-current': '60', 'x-ratelimit-reset': reset },
  }
}
