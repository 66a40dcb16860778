import { z } from 'zod'
import { decodeBase58, isAddress, isSignature } from '../../../../src/kernel/base58.js'
import { readChecked } from '../../http-server.js'
import type { Commitment } from '../clock.js'
import { invalidParams } from './error.js'

const rememberedSignatures = 20_000
/** Length limit of the longest binary parameter, a transaction in base58 or base64. */
export const encodedBytesMax = 1_700

// Pollers request the same signatures repeatedly, and decoding base58 is the most expensive part of an answer.
const knownSignatures = new Set<string>()

function isKnownSignature(text: string): boolean {
  if (knownSignatures.has(text)) return true
  if (!isSignature(text)) return false
  if (knownSignatures.size >= rememberedSignatures) knownSignatures.clear()
  knownSignatures.add(text)
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

/** The requested commitment. As at a node, the default is `finalized`. */
export function requestedCommitment(options: { commitment?: Commitment | null | undefined }): Commitment {
  return options.commitment ?? 'finalized'
}

/** The requested commitment, for methods that do not support `processed`. */
export function requestedSettledCommitment(options: {
  commitment?: Commitment | null | undefined
}): Commitment {
  if (options.commitment === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`')
  }
  return requestedCommitment(options)
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
