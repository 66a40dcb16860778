import { z } from 'zod'
import { choice, draw, roll } from './dice.js'
import { keyOf, type Outcome, outcomes } from './records.js'

const laterMsMax = 600_000
const webhookCopiesMax = 20
const referencesMax = 10_000
const defaultSettleMs = 1000

const transferModes = [
  'auto',
  'manual',
  'reject',
  'no-float',
  'refuse-connection',
  'timeout',
  '500',
  'accept-then-timeout',
  'accept-then-500',
  'accept-then-garbage',
  'accept-then-reset',
] as const
const troubles = ['ok', 'timeout', '500', 'garbage', 'reset'] as const
const lookupTroubles = [...troubles, 'not-found'] as const
const chargeModes = ['ok', 'down', 'timeout', 'garbage'] as const

export type TransferMode = (typeof transferModes)[number]
export type Trouble = (typeof troubles)[number]
export type LookupTrouble = (typeof lookupTroubles)[number]
export type ChargeMode = (typeof chargeModes)[number]

/**
 * How the provider behaves to everybody. `transfers`: what becomes of a sent transfer; `auto` settles by itself,
 * `manual` waits for a control, `reject` refuses with `rejectText`. `charges`: the collection endpoints.
 */
export const modeSchema = z.strictObject({
  transfers: z.enum(transferModes).optional(),
  charges: z.enum(chargeModes).optional(),
  rejectText: z.string().min(1).max(1000).optional(),
})

const laterMs = z.int().nonnegative().max(laterMsMax)

/**
 * How it misbehaves besides, to all or under one reference `id`; what a fault does not name stays as the mode says.
 * A choice is one kind or a weight for each, drawn by `seed`, the reference and how often it was tried.
 * `transfers`: as the mode. `outcomes`, `settleMs`: what a transfer becomes by itself, and when; `lookups`: what
 * looking a transfer up meets; `lookupLagMs`: transfers are found only after up to so long; `shows`: what lookups
 * claim instead of the truth; `duplicates`: `execute` sends the money again for a reference already used; `webhooks`:
 * how often, how late, and whether at all and rightly signed. To all alone: `accounts`: what asking for banks, names
 * and recipients meets; `refuseKey`: every secret key is wrong.
 */
export const faultSchema = z.strictObject({
  id: z.string().min(1).max(200).optional(),
  seed: z.int().nonnegative().optional(),
  transfers: choice(transferModes).optional(),
  outcomes: choice(outcomes).optional(),
  settleMs: laterMs.optional(),
  lookups: choice(lookupTroubles).optional(),
  lookupLagMs: laterMs.optional(),
  shows: z
    .strictObject({
      amount: z.int().optional(),
      currency: z.string().max(10).optional(),
      reference: z.string().max(200).optional(),
      status: z.string().max(50).optional(),
    })
    .optional(),
  duplicates: z.enum(['refuse', 'execute']).optional(),
  webhooks: z
    .strictObject({
      copies: z.int().nonnegative().max(webhookCopiesMax).optional(),
      delayMs: laterMs.optional(),
      badSignature: z.boolean().optional(),
    })
    .optional(),
  accounts: choice(troubles).optional(),
  refuseKey: z.boolean().optional(),
})

type Mode = z.output<typeof modeSchema>
type Fault = z.output<typeof faultSchema>

/** How the provider behaves at the moment. In memory: a restarted stand-in behaves. */
export class Behaviour {
  #mode: Mode = {}
  #fault: Fault = {}
  readonly #faultsUnder = new Map<string, Fault>()

  /** Changes what the mode names. */
  setMode(mode: Mode): void {
    this.#mode = { ...this.#mode, ...mode }
  }

  /** Replaces the faults in force, those of all or those of one reference. */
  setFault(fault: Fault): void {
    if (fault.id === undefined) this.#fault = fault
    else this.#faultsUnder.set(keyOf(fault.id), fault)
    const [oldest] = this.#faultsUnder.keys()
    if (this.#faultsUnder.size > referencesMax && oldest !== undefined) this.#faultsUnder.delete(oldest)
  }

  reset(): void {
    this.#mode = {}
    this.#fault = {}
    this.#faultsUnder.clear()
  }

  get charges(): ChargeMode {
    return this.#mode.charges ?? 'ok'
  }

  get rejectText(): string | undefined {
    return this.#mode.rejectText
  }

  /** The faults in force under a reference. */
  fault(reference: string): Fault {
    return { ...this.#fault, ...this.#faultsUnder.get(keyOf(reference)) }
  }

  /** What the nth sending under a reference meets. */
  sending(reference: string, nth: number): TransferMode {
    const { transfers = this.#mode.transfers ?? 'auto', seed = 0 } = this.fault(reference)
    return draw(transfers, roll(seed, 'sending', keyOf(reference), nth))
  }

  /** What the nth lookup of a transfer meets. */
  lookup(reference: string, nth: number): LookupTrouble {
    const { lookups = 'ok', seed = 0 } = this.fault(reference)
    return draw(lookups, roll(seed, 'lookup', keyOf(reference), nth))
  }

  /** What the nth call meets when it is about accounts. */
  account(nth: number): Trouble {
    const { accounts = 'ok', seed = 0 } = this.#fault
    return draw(accounts, roll(seed, 'account', nth))
  }

  /** Whether no secret key is right. */
  get refusesKey(): boolean {
    return this.#fault.refuseKey === true
  }

  /** What an accepted transfer becomes by itself, when, and when it is found, in ms from now. */
  fate(reference: string): { outcome: Outcome; settleMs: number; lagMs: number } {
    const {
      outcomes = 'success',
      settleMs = defaultSettleMs,
      lookupLagMs = 0,
      seed = 0,
    } = this.fault(reference)
    return {
      outcome: draw(outcomes, roll(seed, 'outcome', keyOf(reference))),
      settleMs,
      lagMs: Math.floor(lookupLagMs * roll(seed, 'lag', keyOf(reference))),
    }
  }
}
