import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { decodeBase58, isAddress, isSignature } from '../../../../src/kernel/base58.js'
import { readChecked } from '../../http-server.js'
import type { ChainClock, Commitment } from '../clock.js'
import { invalidParams } from './error.js'

export const apiVersion = '2.3.0'
/** Length limit of the longest binary parameter, a transaction in base58 or base64. */
export const encodedBytesMax = 1_700

// Pollers request the same signatures repeatedly, and decoding base58 is the most expensive part of an answer.
const knownSignatures = new LRUCache<string, true>({ max: 20_000 })

function isKnownSignature(text: string): boolean {
  if (knownSignatures.has(text)) return true
  if (!isSignature(text)) return false
  knownSignatures.set(text, true)
  return true
}

export const key = z.string().refine(isAddress, 'Invalid param: Invalid')
export const signature = z.string().refine(isKnownSignature, 'Invalid param: WrongSize')
export const count = z.int().nonnegative()
export const commitment = z.enum(['processed', 'confirmed', 'finalized'])
export const encoding = z.enum(['base58', 'base64', 'json', 'jsonParsed'])

/** `{ commitment }` and the method's own options. A missing or null object counts as empty. */
export function config<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => value ?? {}, z.object({ commitment: commitment.nullish(), ...shape }))
}

/** A list of at most `max` values, with the node's own error text for a longer one. */
export function limitedList<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(z.unknown()).max(max, `Too many inputs provided; max ${max}`).pipe(z.array(item))
}

export const commitmentConfig = config({})

/** The commitment that options name. As at a node, the default is `finalized`. */
export function requestedCommitment(options: unknown): Commitment {
  return commitmentConfig.safeParse(options).data?.commitment ?? 'finalized'
}

/** The same for methods that do not support `processed`. */
export function requestedSettledCommitment(options: unknown): Commitment {
  const requested = requestedCommitment(options)
  if (requested !== 'processed') return requested
  throw invalidParams('Method does not support commitment below `confirmed`')
}

export const binaryEncoding = z.enum(['base58', 'base64'])

/** The bytes of a base58 or base64 parameter. */
export function decodeBinary(text: string, form: 'base58' | 'base64'): Uint8Array {
  const bytes =
    form === 'base64' ? new Uint8Array(Buffer.from(text, 'base64')) : decodeBase58(text, encodedBytesMax)
  if (!bytes) throw invalidParams('invalid base58 encoding')
  return bytes
}

/** A JSON-RPC method: takes unchecked parameters and returns the result. */
export type RpcMethod<Result = unknown> = (params: readonly unknown[]) => Result

/** Creates a method whose parameters are checked with a schema. Invalid ones are refused with -32602 and a reason. */
export function method<Params extends z.ZodType<readonly unknown[]>, Result>(
  params: Params,
  run: (...params: z.output<Params>) => Result,
): RpcMethod<Result> {
  return (values) => run(...readChecked(params, values, invalidParams))
}

/** As `method`, of a value that is answered with the slot of the commitment that the last parameter names. */
export function valueMethod<Params extends z.ZodType<readonly unknown[]>>(
  { clock }: { readonly clock: ChainClock },
  params: Params,
  run: (...params: z.output<Params>) => unknown,
): RpcMethod {
  const read = method(params, run)
  return (values) => {
    const value = read(values)
    return { context: { apiVersion, slot: clock.slotAt(requestedCommitment(values.at(-1))) }, value }
  }
}
