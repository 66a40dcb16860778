import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { encodeBase58 } from '../../../src/kernel/base58.js'

export type Commitment = 'processed' | 'confirmed' | 'finalized'

export interface ClockOptions {
  /** Blockhashes and the sandbox's keys are derived from it. The same seed gives the same chain. */
  readonly seed: string
  /** When slot 0 began, in milliseconds since 1970. */
  readonly genesisTime: number
  /** Milliseconds per slot. With 0 the clock moves only with `advance`. */
  readonly slotMs: number
  /** Slots until a transaction counts as confirmed, and as finalized. */
  readonly confirmLag: number
  readonly finalizeLag: number
}

/** For how many slots a blockhash stays valid, as on mainnet. */
export const blockhashLifetime = 150
const slotHashesKept = 512
const hashesRemembered = 4_096
const defaultSlotMs = 400

/**
 * Slots, blockhashes and commitment. The slot is a pure function of the wall clock, and a blockhash is a pure function of
 * its slot. So there is no timer and no stored state, and a restarted chain continues. Every slot has a block, so block
 * height and slot are the same number.
 */
export class ChainClock {
  readonly seed: string
  readonly genesisTime: number
  readonly slotMs: number
  confirmLag: number
  finalizeLag: number
  #offset: number
  #frozenAt = Number.POSITIVE_INFINITY
  readonly #slots = new Map<string, number>()
  readonly #hashes = new LRUCache<number, string>({ max: hashesRemembered })
  #hashedTo = -1

  constructor(options: ClockOptions) {
    this.seed = options.seed
    this.genesisTime = options.genesisTime
    this.slotMs = options.slotMs
    this.confirmLag = options.confirmLag
    this.finalizeLag = options.finalizeLag
    this.#offset = options.slotMs > 0 ? 0 : 1
  }

  get slot(): number {
    const ticked =
      this.slotMs > 0 ? Math.max(1, Math.floor((Date.now() - this.genesisTime) / this.slotMs)) : 0
    return ticked + this.#offset
  }

  get genesisHash(): string {
    return this.hashOf(-1)
  }

  /** The newest slot that has reached this commitment. */
  slotAt(commitment: Commitment): number {
    if (commitment === 'processed') return this.slot
    const lag = commitment === 'confirmed' ? this.confirmLag : this.finalizeLag
    return Math.max(0, Math.min(this.#frozenAt, this.slot - lag))
  }

  blockTime(slot: number): number {
    return Math.floor((this.genesisTime + slot * (this.slotMs || defaultSlotMs)) / 1000)
  }

  hashOf(slot: number): string {
    const known = this.#hashes.get(slot)
    if (known !== undefined) return known
    const hash = encodeBase58(createHash('sha256').update(`${this.seed}|${slot}`).digest())
    this.#hashes.set(slot, hash)
    return hash
  }

  /** The slot of a blockhash that is still valid. `undefined` when it is too old or unknown. */
  slotOfRecentHash(hash: string): number | undefined {
    const now = this.slot
    const oldest = now - blockhashLifetime
    for (let slot = Math.max(this.#hashedTo + 1, oldest, 0); slot <= now; slot++) {
      this.#slots.set(this.hashOf(slot), slot)
    }
    this.#hashedTo = now
    if (this.#slots.size > 4 * blockhashLifetime) {
      for (const [known, slot] of this.#slots) if (slot < oldest) this.#slots.delete(known)
    }
    const slot = this.#slots.get(hash)
    return slot !== undefined && slot >= oldest ? slot : undefined
  }

  /** The recent slots and their hashes, newest first, as the SlotHashes sysvar holds them. */
  recentHashes(): { slot: number; hash: string }[] {
    const now = this.slot
    const count = Math.min(now, slotHashesKept)
    return Array.from({ length: count }, (_, index) => ({
      slot: now - 1 - index,
      hash: this.hashOf(now - 1 - index),
    }))
  }

  advance(slots: number): void {
    this.#offset += slots
  }

  /** Moves the clock past a slot, so that time does not run backwards after a restart. */
  advancePast(slot: number): void {
    this.#offset += Math.max(0, slot + 1 - this.slot)
  }

  /** While on, no further transaction becomes confirmed or finalized. */
  freezeConfirmations(on: boolean): void {
    this.#frozenAt = on ? this.slot - 1 : Number.POSITIVE_INFINITY
  }
}
