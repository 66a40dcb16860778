import { z } from 'zod'
import { json, type SandboxAnswer } from '../http-route.js'

const delayMsMax = 120_000

/** How an engine can fail, and how its transactions can differ from its answer. */
const commonModes = [
  'ok',
  // Answers 503 as a load balancer; answers 429; answers 200 with a page; has no route for any pair.
  'down',
  'rate-limited',
  'garbage',
  'no-route',
  // Needs a market maker's signature; takes no fee for the platform and says so; is larger than a packet.
  'second-signer',
  'no-fee',
  'oversized',
  // Dishonest: pays a tenth less than promised; pays another wallet; adds a payment; calls an unknown program.
  'pays-less',
  'pays-another',
  'batches',
  'unknown-program',
] as const
/** `error-code`: answers with an error code instead of a transaction. */
const ultraModes = [...commonModes, 'error-code'] as const

export type Mode = (typeof ultraModes)[number]

/** How the answer gives the last valid block height. */
const heights = ['number', 'text', 'none'] as const
type Height = (typeof heights)[number]

const endpoints = ['order', 'execute', 'quote', 'swap'] as const
export type Endpoint = (typeof endpoints)[number]

/** The field of an engine's answer with the last valid block height, if there is one. */
export function blockHeightField(lastValidBlockHeight: number, height: Height) {
  if (height === 'none') return {}
  return { lastValidBlockHeight: height === 'text' ? String(lastValidBlockHeight) : lastValidBlockHeight }
}

/** A fault of an engine. */
export interface EngineFault {
  readonly mode: Mode
  readonly height?: Height | undefined
  readonly delayMs?: number | undefined
  /** Only at this endpoint. */
  readonly endpoint?: Endpoint | undefined
  /** For how many requests. Without it until it is changed. */
  readonly times?: number | undefined
}

const details = {
  height: z.enum(heights).optional(),
  delayMs: z.int().nonnegative().max(delayMsMax).optional(),
  endpoint: z.enum(endpoints).optional(),
  times: z.int().positive().optional(),
}

/** The schema of a fault: a mode, or an object with details. */
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

/** The normal behaviour. */
export const noFault: EngineFault = { mode: 'ok' }

const page = '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking…</body></html>'
const retrySeconds = 1

/** The answer of an engine that does not read the request. `undefined` in other modes. */
export function outageAnswer({ mode }: EngineFault): SandboxAnswer | undefined {
  if (mode === 'down') return { status: 503, type: 'text/plain', body: 'no healthy upstream' }
  if (mode === 'garbage') return { status: 200, type: 'text/html', body: page }
  if (mode !== 'rate-limited') return undefined
  const reset = String(Math.ceil(Date.now() / 1000) + retrySeconds)
  return {
    ...json(429, { code: 429, message: '[API Gateway] Too many requests' }),
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-current': '60', 'x-ratelimit-reset': reset },
  }
}
