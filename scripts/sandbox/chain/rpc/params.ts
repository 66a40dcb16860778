import { z } from 'zod'
import { decodeBase58, isAddress, isSignature } from '../../../../src/kernel/base58.js'
import type { Commitment } from '../clock.js'
import { invalidParams } from './error.js'

const rememberedSignatures = 20_000
/** Characters of the longest binary parameter, a transaction in base58 or base64. */
export const encodedBytesMax = 1_700

// Pollers ask for the same signatures again and again, and base58 is the dearest part of answering them.
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

/** `{ commitment }`, and whatever else a method reads; a missing, null or empty object is the same thing. */
export function config<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => value ?? {}, z.object({ commitment: commitment.nullish(), ...shape }))
}

/** A list of at most `max` values, with the node's own words for one too long. */
export function inputs<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(z.unknown()).max(max, `Too many inputs provided; max ${max}`).pipe(z.array(item))
}

export const anyConfig = config({})

/** The commitment asked for; a node's default is the strictest. */
export function asked(options: { commitment?: Commitment | null | undefined }): Commitment {
  return options.commitment ?? 'finalized'
}

/** As `asked`, for methods that speak of settled transactions only. */
export function askedSettled(options: { commitment?: Commitment | null | undefined }): Commitment {
  if (options.commitment === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`')
  }
  return asked(options)
}

export const binaryEncoding = z.enum(['base58', 'base64'])

/** The bytes of a base58 or base64 parameter. */
export function decodeBinary(text: string, form: 'base58' | 'base64'): Uint8Array {
  const bytes =
    form === 'base64' ? new Uint8Array(Buffer.from(text, 'base64')) : decodeBase58(text, encodedBytesMax)
  if (!bytes) throw invalidParams('invalid base58 encoding')
  return bytes
}

/** A JSON-RPC method: what it takes and what it does. */
export type RpcMethod<Result = unknown> = (params: readonly unknown[]) => Result

/** Joins a method to the schema of its parameters; others are refused with -32602 and a reason. */
export function method<Params extends z.ZodType<readonly unknown[]>, Result>(
  params: Params,
  run: (...params: z.output<Params>) => Result,
): RpcMethod<Result> {
  return (values) => {
    const checked = params.safeParse(values)
    if (!checked.success) throw invalidParams(checked.error.issues[0]?.message ?? 'Invalid params')
    return run(...checked.data)
  }
}
