import { createHash } from 'node:crypto'
import { z } from 'zod'

const drawBytes = 6
const weightMax = 1e6

/** One kind, or how often each: `{ "auto": 80, "500": 20 }`. */
export type Choice<Kind extends string> = Kind | { readonly [kind in Kind]?: number | undefined }

/** What a control accepts as a choice among `kinds`. */
export function choice<Kind extends string>(kinds: readonly Kind[]): z.ZodType<Choice<Kind>> {
  const weights = z.partialRecord(z.enum(kinds), z.number().positive().max(weightMax))
  const weighted = weights.refine((given) => Object.keys(given).length > 0, 'at least one weight')
  return z.union([z.enum(kinds), weighted])
}

/** From 0 to below 1, the same for the same seed and words, whatever happened before. */
export function roll(seed: number, ...words: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, ...words]))
    .digest()
  return digest.readUIntBE(0, drawBytes) / 2 ** (8 * drawBytes)
}

/** The kind a roll from 0 to below 1 falls on. */
export function draw<Kind extends string>(from: Choice<Kind>, rolled: number): Kind {
  if (typeof from === 'string') return from
  const weights = Object.entries(from) as [Kind, number][]
  let left = rolled * weights.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [kind, weight] of weights) {
    left -= weight
    if (left < 0) return kind
  }
  return weights.at(-1)?.[0] as Kind
}
