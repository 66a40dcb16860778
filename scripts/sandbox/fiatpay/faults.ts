import { z } from 'zod'
import { keyOf, type Outcome, outcomes } from './records.js'
import { chooseKind, seededNumber, type WeightedChoice, weightedChoice } from './seeded-choice.js'

const delayMsMax = 600_000
const webhookCopiesMax = 20
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
const endpointFaults = ['ok', 'timeout', '500', 'garbage', 'reset'] as const
const lookupFaults = [...endpointFaults, 'not-found'] as const
const refundModes = [
  'auto',
  'manual',
  'reject',
  'timeout',
  '500',
  'accept-then-timeout',
  'accept-then-500',
] as const
const chargeModes = ['ok', 'down', 'timeout', 'garbage'] as const
/** Paystack's 16 hours, the longest time a dispute waits for an answer. */
const disputeDueMs = 57_600_000

export type TransferMode = (typeof transferModes)[number]

/**
 * How the provider treats all requests. `transfers`: what happens to a sent transfer. `auto` gives it an outcome after a
 * delay, `manual` waits for a control, `reject` refuses it with `rejectText`. `charges`: the mode of the charge endpoints.
 * `refunds`: what happens to a requested refund. `webhooks`: with `off` none is sent, not even later. `fees`: whether further
 * payments and transfers cost the provider's fees. `disputeDueMs`: how long a further dispute waits for an answer.
 */
export const modeSchema = z.strictObject({
  transfers: z.enum(transferModes).exactOptional(),
  charges: z.enum(chargeModes).exactOptional(),
  rejectText: z.string().min(1).max(1000).exactOptional(),
  refunds: z.enum(refundModes).exactOptional(),
  webhooks: z.enum(['ok', 'off']).exactOptional(),
  fees: z.enum(['on', 'off']).exactOptional(),
  disputeDueMs: z.int().nonnegative().max(disputeDueMs).exactOptional(),
})

const delayInMs = z.int().nonnegative().max(delayMsMax)

/**
 * Faults for all references, or for the reference `id` only. What a fault does not name stays as the mode says. A weighted
 * choice is one kind or a weight per kind. It is drawn from `seed`, the reference and the number of the attempt.
 * - `transfers`: replaces the mode's value
 * - `outcomes`, `settleMs`: the outcome a transfer gets, and after what delay
 * - `lookups`: the faults of transfer lookups
 * - `lookupLagMs`: the maximum delay until a lookup finds a transfer
 * - `shows`: false values in lookups
 * - `duplicates`: with `execute` the provider executes a used reference again
 * - `webhooks`: how many copies are sent (0: none), after what delay, and whether the signature is wrong
 *
 * Two faults always apply to all references:
 * - `accounts`: the faults of the endpoints for banks, account names and recipients
 * - `refuseKey`: refuses every secret key
 */
export const faultSchema = z.strictObject({
  id: z.string().min(1).max(200).optional(),
  seed: z.int().nonnegative().optional(),
  transfers: weightedChoice(transferModes).optional(),
  outcomes: weightedChoice(outcomes).optional(),
  settleMs: delayInMs.optional(),
  lookups: weightedChoice(lookupFaults).optional(),
  lookupLagMs: delayInMs.optional(),
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
      delayMs: delayInMs.optional(),
      badSignature: z.boolean().optional(),
    })
    .optional(),
  accounts: weightedChoice(endpointFaults).optional(),
  refuseKey: z.boolean().optional(),
})

type Mode = z.output<typeof modeSchema>
type Fault = z.output<typeof faultSchema>

const usual = { transfers: 'auto', charges: 'ok', refunds: 'auto', webhooks: 'ok', disputeDueMs } as const

/** The active mode and faults. They are only in memory: a restarted stand-in has none. */
export class FiatpayFaults {
  #mode: Mode = {}
  #fault: Fault = {}
  readonly #faultsByReference = new Map<string, Fault>()
  readonly #fees: 'on' | 'off'

  /** `fees`: whether fees are charged while the mode says nothing about them. */
  constructor(fees = false) {
    this.#fees = fees ? 'on' : 'off'
  }

  get mode() {
    return { ...usual, fees: this.#fees, ...this.#mode }
  }

  /** Changes the named values of the mode. */
  setMode(mode: Mode): void {
    this.#mode = { ...this.#mode, ...mode }
  }

  /** Replaces the faults for all references, or those for one reference. */
  setFault(fault: Fault): void {
    if (fault.id === undefined) this.#fault = fault
    else this.#faultsByReference.set(keyOf(fault.id), fault)
  }

  reset(): void {
    this.#mode = {}
    this.#fault = {}
    this.#faultsByReference.clear()
  }

  /** The active faults for a reference. */
  faultFor(reference: string): Fault {
    return { ...this.#fault, ...this.#faultsByReference.get(keyOf(reference)) }
  }

  /** The mode of the nth sending of a reference. */
  transferModeFor(reference: string, nth: number): TransferMode {
    const { transfers = this.mode.transfers, seed } = this.faultFor(reference)
    return choose(transfers, seed, 'sending', keyOf(reference), nth)
  }

  /** The fault of the nth lookup of a transfer. */
  lookupFaultFor(reference: string, nth: number): (typeof lookupFaults)[number] {
    const { lookups = 'ok', seed } = this.faultFor(reference)
    return choose(lookups, seed, 'lookup', keyOf(reference), nth)
  }

  /** The fault of the nth call when it is about accounts. */
  accountFault(nth: number): (typeof endpointFaults)[number] {
    const { accounts = 'ok', seed } = this.#fault
    return choose(accounts, seed, 'account', nth)
  }

  /** Whether every secret key is refused. */
  get refusesEveryKey(): boolean {
    return this.#fault.refuseKey === true
  }

  /** The planned outcome of an accepted transfer, and in how many ms it gets it and becomes visible to lookups. */
  plannedOutcome(reference: string): { outcome: Outcome; settleMs: number; lagMs: number } {
    const fault = this.faultFor(reference)
    const { outcomes = 'success', settleMs = defaultSettleMs, lookupLagMs = 0, seed = 0 } = fault
    const outcome = choose(outcomes, seed, 'outcome', keyOf(reference))
    return { outcome, settleMs, lagMs: Math.floor(lookupLagMs * seededNumber(seed, 'lag', keyOf(reference))) }
  }
}

/** Draws a kind by the seed, by default 0, and what is drawn for. */
function choose<Kind extends string>(
  choice: WeightedChoice<Kind>,
  seed = 0,
  ...words: readonly (string | number)[]
): Kind {
  return chooseKind(choice, seededNumber(seed, ...words))
}
