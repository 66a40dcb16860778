import { z } from 'zod'
import { isAddress } from '../../../src/kernel/base58.js'
import type { LocalChain } from '../chain/local-chain.js'
import type { PriceFeed } from '../feeds.js'
import { json, parseJson, readChecked, type SandboxAnswer, type SandboxRequest } from '../http-server.js'

/** What the engines trade on: the chain has their liquidity, the feed has the prices. */
export interface Market {
  readonly chain: LocalChain
  readonly prices: PriceFeed
}

/** How an engine can fail, and how its transactions can differ from its answer. */
export const modes = [
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
  // Only Ultra: answers with an error code instead of a transaction.
  'error-code',
] as const
export type Mode = (typeof modes)[number]

const u64Max = 2n ** 64n - 1n
export const address = z.string('missing').refine(isAddress, 'Invalid')
/** Base units: a u64 as text. */
export const rawAmount = z
  .string('missing')
  .regex(/^\d{1,20}$/, 'Invalid')
  .transform(BigInt)
  .refine((amount) => amount <= u64Max, 'Invalid')

/** A refusal of an engine, answered as JSON. */
export class EngineError extends Error {
  readonly answer: SandboxAnswer

  constructor(body: { readonly error: string; readonly [detail: string]: unknown }) {
    super(body.error)
    this.answer = json(400, body)
  }
}

/**
 * Parses the query, or the JSON body, with its schema. An empty parameter counts as absent.
 * @throws EngineError with a description of the fault
 */
export function readInput<Schema extends z.ZodType>(
  schema: Schema,
  { url, body }: SandboxRequest,
  from: 'query' | 'body',
): z.output<Schema> {
  const given = [...url.searchParams].filter(([, value]) => value !== '')
  return readChecked(
    schema,
    from === 'query' ? Object.fromEntries(given) : parseJson(body),
    (message, field) => new EngineError({ error: `Invalid ${from} parameter ${field}: ${message}` }),
  )
}

const page = '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking…</body></html>'

/** The answer of an engine that does not read the request. */
export const outages: Readonly<Partial<Record<Mode, SandboxAnswer>>> = {
  down: { status: 503, type: 'text/plain', body: 'no healthy upstream' },
  garbage: { status: 200, type: 'text/html', body: page },
  'rate-limited': json(429, { code: 429, message: '[API Gateway] Too many requests' }),
}
