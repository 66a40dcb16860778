import { chooseKind, seededNumber } from '../sandbox/fiatpay/seeded-choice.js'

/** Draws that depend only on the seed and their order. */
export class Draw {
  readonly #seed: number
  #drawn = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** A number in [0, 1). */
  next(): number {
    this.#drawn += 1
    return seededNumber(this.#seed, 'act', this.#drawn)
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** One of these; later ones more often when `recent`, since most acts are about what has just happened. */
  one<Item>(items: readonly Item[], recent = false): Item | undefined {
    const near = recent && this.happens(0.8) ? items.slice(-12) : items
    return near[this.whole(0, near.length - 1)]
  }

  /** One of these, which are not none. */
  oneOf<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('nothing to choose from')
    return items[this.whole(0, items.length - 1)] as Item
  }

  kind<Kind extends string>(weights: { readonly [kind in Kind]: number }): Kind {
    return chooseKind<Kind>(weights, this.next())
  }
}
