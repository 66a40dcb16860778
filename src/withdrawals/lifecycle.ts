import {
  isFinal,
  openStates,
  type StateMachine,
  type Step,
  sourcesOf,
  stepsBetween,
} from '../kernel/state-machine.js'

export const withdrawalStatuses = ['pending', 'submitted', 'processing', 'completed', 'failed'] as const
/** What the creator sees. */
export type WithdrawalStatus = (typeof withdrawalStatuses)[number]

/** The functions of `ledger-entries.ts` that end the hold. */
export type HoldEntry = 'postHold' | 'voidHold'

/**
 * The steps that the provider's record takes. A withdrawal passes through every status between, also when the provider was not
 * polled in time to show it: a transfer that the provider has was accepted, so a failed one was `submitted` too.
 */
export const providerSteps: readonly Step<WithdrawalStatus, HoldEntry>[] = [
  { from: 'pending', to: 'submitted', by: 'the provider accepted the transfer, or has it', entries: [] },
  { from: 'submitted', to: 'processing', by: 'the provider has started the transfer', entries: [] },
  {
    from: 'processing',
    to: 'completed',
    by: 'the provider shows it paid, or an operator resolves it',
    entries: ['postHold'],
  },
  {
    from: 'submitted',
    to: 'failed',
    by: 'the provider shows it failed or returned, or an operator resolves it',
    entries: ['voidHold'],
  },
  {
    from: 'processing',
    to: 'failed',
    by: 'the provider shows it failed or returned, or an operator resolves it',
    entries: ['voidHold'],
  },
]

/** The payout was not executed and never will be. */
export const unpaidStep: Step<WithdrawalStatus, HoldEntry> = {
  from: 'pending',
  to: 'failed',
  by: 'the payee is refused, the identity is refused, the creator cancels it, an operator voids it, or it is worth too little at its release',
  entries: ['voidHold'],
}

/** Money that comes back after `completed` changes no status: it opens a review. */
export const statusMachine: StateMachine<WithdrawalStatus> = {
  subject: 'the status of a withdrawal',
  table: 'withdrawals',
  column: 'status',
  states: withdrawalStatuses,
  initial: ['pending'],
  steps: [...providerSteps, unpaidStep],
}

/**
 * What we know about the sending (docs/decisions/0019).
 * - `identity_hold`: waits for the creator's identity; not sent yet
 * - `confirmation_hold`: waits for the creator's confirmation (docs/decisions/0057); not sent yet
 * - `not_sent`: certainly never sent
 * - `sending`: a request may be on its way
 * - `unknown`: a request may have reached the provider
 * - `resend`: to be sent once more under the same reference
 * - `sent`: the provider accepted it
 * - `manual_review`: only a person can decide
 * - `refused`: certainly not executed, and never sent again
 */
export const sendStates = [
  'identity_hold',
  'confirmation_hold',
  'not_sent',
  'sending',
  'unknown',
  'resend',
  'sent',
  'manual_review',
  'refused',
] as const
export type SendState = (typeof sendStates)[number]

const accepted = 'the provider accepted the transfer, or has it'
const voided = 'the creator cancels it, or an operator voids it'
const tooLittle = 'it is worth too little at its release'
const onlyRefusal = 'the payee is refused, and no other request was sent'
const mismatch = 'the provider has another amount, currency or reference'
const notFound = 'the provider does not find it, and refuses a reference that it has'
const undecided = `${mismatch}, or does not find it and might pay it twice`

/**
 * While a request is on its way the reconciler and operators act too, so its answer may find the row in `unknown`, `resend` or
 * `manual_review`.
 */
const sendSteps: readonly Omit<Step<SendState>, 'entries'>[] = [
  { from: 'identity_hold', to: 'not_sent', by: 'the identity is verified, or an operator releases it' },
  {
    from: 'identity_hold',
    to: 'confirmation_hold',
    by: 'the same, and its creator has yet to confirm it',
  },
  { from: 'identity_hold', to: 'refused', by: `the identity is refused, ${voided}, or ${tooLittle}` },
  { from: 'confirmation_hold', to: 'not_sent', by: 'its creator confirms it' },
  { from: 'confirmation_hold', to: 'refused', by: `${voided}, or ${tooLittle}` },
  { from: 'not_sent', to: 'sending', by: 'a worker is about to send it' },
  { from: 'not_sent', to: 'refused', by: `the payee is refused before anything was sent, or ${voided}` },
  { from: 'sending', to: 'not_sent', by: 'the only request was not executed; the payee is not the reason' },
  { from: 'sending', to: 'unknown', by: 'the request got no usable answer, or its worker died' },
  { from: 'sending', to: 'resend', by: notFound },
  { from: 'sending', to: 'sent', by: accepted },
  { from: 'sending', to: 'manual_review', by: undecided },
  { from: 'sending', to: 'refused', by: onlyRefusal },
  { from: 'unknown', to: 'not_sent', by: 'the only request was not executed; the payee is not the reason' },
  { from: 'unknown', to: 'resend', by: `${notFound}, or an operator has it sent again` },
  { from: 'unknown', to: 'sent', by: accepted },
  { from: 'unknown', to: 'manual_review', by: undecided },
  { from: 'unknown', to: 'refused', by: onlyRefusal },
  { from: 'resend', to: 'sending', by: 'a worker is about to send it' },
  { from: 'resend', to: 'sent', by: accepted },
  { from: 'resend', to: 'manual_review', by: undecided },
  { from: 'resend', to: 'refused', by: onlyRefusal },
  { from: 'manual_review', to: 'resend', by: 'an operator has it sent again' },
  { from: 'manual_review', to: 'sent', by: `${accepted}, or an operator resolves it` },
  { from: 'manual_review', to: 'refused', by: `an operator voids it, or ${onlyRefusal}` },
]

/** Money moves with `status`, never with a step of this table alone. */
export const sendMachine: StateMachine<SendState> = {
  subject: 'the send state of a withdrawal',
  table: 'withdrawals',
  column: 'send_state',
  states: sendStates,
  initial: ['not_sent', 'identity_hold', 'confirmation_hold'],
  steps: sendSteps.map((step) => ({ ...step, entries: [] })),
}

/** The send states that a status may have. The database checks each pair. */
export const sendStatesOf: Readonly<Record<WithdrawalStatus, readonly SendState[]>> = {
  pending: openStates(sendMachine),
  submitted: ['sent'],
  processing: ['sent'],
  completed: ['sent'],
  failed: ['sent', 'refused'],
}

/** The statuses that are not final: the money is held. */
export const openStatuses = openStates(statusMachine)
/** The provider has accepted the payout, and it has not failed. */
export const acceptedStatuses = stepsBetween(providerSteps, 'pending', 'completed').map(({ to }) => to)

/** No request was ever sent. A later state may join the initial ones; without it here, the reconciler asks about it. */
export const neverSentStates = sendMachine.initial
/** A worker may send it. */
export const sendableStates = sourcesOf(sendMachine, 'sending')
/** A person must do something before a worker may send it. */
export const heldStates = neverSentStates.filter((state) => !sendableStates.includes(state))
/** A request was or may have been sent, so the reconciler asks the provider. */
export const reconciledStates = sendStates.filter(
  (state) => !neverSentStates.includes(state) && !sendableStates.includes(state),
)
/** Of those, the states in which no worker is sending it, so the provider may be asked now. */
export const pollNowStates = reconciledStates.filter((state) => state !== 'sending')
/** Of those, the states in which nobody knows whether the payout was executed. */
export const unclearStates = pollNowStates.filter((state) => !isFinal(sendMachine, state))
/** A request is or may be on its way, and nothing was decided about it since. */
export const unansweredStates = sourcesOf(sendMachine, 'not_sent').filter(
  (state) => !neverSentStates.includes(state),
)

/**
 * What a held withdrawal waits for. `dispute`: its creator's balance does not cover a dispute or what is owed, or a person looks
 * whether they are somebody who owes (docs/decisions/0067). `breaker`: a payout limit, or the pause of payouts.
 */
export const holds = ['identity', 'confirmation', 'dispute', 'breaker'] as const
export type Hold = (typeof holds)[number]

/**
 * Null: it waits for nothing. Waiting for a dispute or the breaker is no send state: it comes and goes with the creator's balance
 * and with what others send, from `not_sent` as from `resend`, and says nothing about the sending.
 */
export function heldFor({
  sendState,
  waitsForDispute,
  waitsForBreaker,
}: {
  readonly sendState: SendState
  readonly waitsForDispute: boolean
  readonly waitsForBreaker: boolean
}): Hold | null {
  if (sendState === 'identity_hold') return 'identity'
  if (sendState === 'confirmation_hold') return 'confirmation'
  if (waitsForDispute) return 'dispute'
  return waitsForBreaker ? 'breaker' : null
}

const reviewStates = ['open', 'closed', 'outdated'] as const
export type ReviewState = (typeof reviewStates)[number]

/** A review of a withdrawal. A closed one keeps the same fact from opening another; an outdated one does not. */
export const reviewMachine: StateMachine<ReviewState> = {
  subject: 'a review',
  table: 'review_items',
  column: `(case when outdated_at is not null then 'outdated' when resolved_at is not null then 'closed' else 'open' end)`,
  states: reviewStates,
  initial: ['open'],
  steps: [
    {
      from: 'open',
      to: 'closed',
      by: 'the provider shows the outcome, or an operator closes it',
      entries: [],
    },
    { from: 'open', to: 'outdated', by: 'the provider shows the money paid again', entries: [] },
    { from: 'closed', to: 'open', by: 'an operator opens it again', entries: [] },
    { from: 'closed', to: 'outdated', by: 'the provider shows the opposite', entries: [] },
  ],
}
