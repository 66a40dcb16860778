import { z } from 'zod'
import { keyOf, type Outcome } from './records.js'
import { chooseKind, seededNumber, type WeightedChoice } from './seeded-choice.js'

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
type EndpointFault = 'ok' | 'timeout' | '500' | 'garbage' | 'reset'
type LookupFault = EndpointFault | 'not-found'
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

type Mode = z.output<typeof modeSchema>

/**
 * Faults for all references, or for the reference `id` only. What a fault does not name stays as the mode says. A weighted
 * choice is drawn from `seed`, the reference and the number of the attempt.
 */
export interface Fault {
  readonly id?: string | undefined
  readonly seed?: number | undefined
  /** Replaces the mode's value. */
  readonly transfers?: WeightedChoice<TransferMode> | undefined
  /** What becomes of a transfer, and after what delay. */
  readonly outcomes?: WeightedChoice<Outcome> | undefined
  readonly settleMs?: number | undefined
  /** Of lookups of transfers, and the longest delay until one finds a transfer. */
  readonly lookups?: WeightedChoice<LookupFault> | undefined
  readonly lookupLagMs?: number | undefined
  /** False values in lookups. */
  readonly shows?: { readonly [field: string]: string | number | undefined } | undefined
  /** With `execute` the provider executes a used reference again. */
  readonly duplicates?: 'refuse' | 'execute' | undefined
  /** How many copies are sent (0: none), after what delay, and whether the signature is wrong. */
  readonly webhooks?:
    | { readonly copies?: number; readonly delayMs?: number; readonly badSignature?: boolean }
    | undefined
  /** Of the endpoints for banks, account names and recipients. This and the next always apply to all references. */
  readonly accounts?: WeightedChoice<EndpointFault> | undefined
  readonly refuseKey?: boolean | undefined
}

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

  setMode(mode: Mode): void {
    this.#mode = { ...this.#mode, ...mode }
  }

  setFault(fault: Fault): void {
    if (fault.id === undefined) this.#fault = fault
    else this.#faultsByReference.set(keyOf(fault.id), fault)
  }

  reset(): void {
    this.#mode = {}
    this.#fault = {}
    this.#faultsByReference.clear()
  }

  faultFor(reference: string): Fault {
    return { ...this.#fault, ...this.#faultsByReference.get(keyOf(reference)) }
  }

  transferModeFor(reference: string, nth: number): TransferMode {
    const { transfers = this.mode.transfers, seed } = this.faultFor(reference)
    return choose(transfers, seed, 'sending', keyOf(reference), nth)
  }

  lookupFaultFor(reference: string, nth: number): LookupFault {
    const { lookups = 'ok', seed } = this.faultFor(reference)
    return choose(lookups, seed, 'lookup', keyOf(reference), nth)
  }

  accountFault(nth: number): EndpointFault {
    const { accounts = 'ok', seed } = this.#fault
    return choose(accounts, seed, 'account', nth)
  }

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
