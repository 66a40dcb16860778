import { chooseKind, seededNumber } from '../sandbox/fiatpay/seeded-choice.js'

/**
 * What is drawn in a run. Each kind has a row of draws of its own, so that leaving one mishap out changes as little as possible of
 * the others: that is how a story is shortened.
 */
export class Chance {
  /** The mishaps that came, in order, by their names. */
  readonly mishaps: string[] = []
  /** From now on nothing goes wrong. */
  calm = false
  readonly #seed: number
  readonly #without: ReadonlySet<string>
  readonly #drawn = new Map<string, number>()

  constructor(seed: number, without: ReadonlySet<string> = new Set()) {
    this.#seed = seed
    this.#without = without
  }

  /** A number in [0, 1). */
  next(kind: string): number {
    const drawn = (this.#drawn.get(kind) ?? 0) + 1
    this.#drawn.set(kind, drawn)
    return seededNumber(this.#seed, kind, drawn)
  }

  /** A number in [0, 1) that belongs to a place, whenever it is asked for. */
  at(kind: string, place: number): number {
    return seededNumber(this.#seed, kind, 'at', place)
  }

  /** From `least` to `most`. */
  between(kind: string, least: number, most: number): number {
    return least + this.next(kind) * (most - least)
  }

  /** A whole number from `least` to `most`. */
  whole(kind: string, least: number, most: number): number {
    return Math.floor(this.between(kind, least, most + 1))
  }

  oneOf<Item>(kind: string, items: readonly Item[]): Item | undefined {
    return items[this.whole(kind, 0, items.length - 1)]
  }

  choose<Kind extends string>(kind: string, weights: { readonly [name in Kind]: number }): Kind {
    return chooseKind<Kind>(weights, this.next(kind))
  }

  /** Whether this mishap comes now. */
  strikes(kind: string, probability: number): boolean {
    if (this.next(kind) >= probability || this.calm) return false
    const name = `${kind} ${this.#drawn.get(kind)}`
    if (this.#without.has(name)) return false
    this.mishaps.push(name)
    return true
  }
}
