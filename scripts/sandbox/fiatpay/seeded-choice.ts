import { createHash } from 'node:crypto'

const drawBytes = 6

/** One kind, or a weight per kind: `{ "auto": 80, "500": 20 }`. */
export type WeightedChoice<Kind extends string> = Kind | { readonly [kind in Kind]?: number | undefined }

/** A number in [0, 1) that depends only on the seed and the words. */
export function seededNumber(seed: number, ...words: readonly (string | number)[]): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, ...words]))
    .digest()
  return digest.readUIntBE(0, drawBytes) / 2 ** (8 * drawBytes)
}

/** Chooses a kind with a number in [0, 1), in proportion to the weights. */
export function chooseKind<Kind extends string>(choice: WeightedChoice<Kind>, drawn: number): Kind {
  if (typeof choice === 'string') return choice
  const weights = Object.entries(choice) as [Kind, number][]
  let left = drawn * weights.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [kind, weight] of weights) {
    left -= weight
    if (left < 0) return kind
  }
  return weights.at(-1)?.[0] as Kind
}
