import {
  checkStep,
  isFinal,
  openStates,
  type StateMachine,
  type Step,
  sourcesOf,
  stepsBetween,
} from '../kernel/state-machine.js'

/** What the owner of outgoing money sees. Withdrawals and refunds have the same. */
export const outgoingStatuses = ['pending', 'submitted', 'processing', 'completed', 'failed'] as const
export type OutgoingStatus = (typeof outgoingStatuses)[number]

type NamedStep<State extends string> = Pick<Step<State>, 'from' | 'to' | 'by'>

const accepted = 'the provider accepted it, or has it'
const shownFailed = 'the provider shows it failed or returned, or an operator resolves it'
/**
 * The steps that the provider's record takes. A row passes through every status between, also when the provider was not asked in
 * time to show it: what the provider has was accepted, so what failed there was `submitted` too.
 */
const providerPath: readonly NamedStep<OutgoingStatus>[] = [
  { from: 'pending', to: 'submitted', by: accepted },
  { from: 'submitted', to: 'processing', by: 'the provider has started it' },
  { from: 'processing', to: 'completed', by: 'the provider shows it paid, or an operator resolves it' },
  { from: 'submitted', to: 'failed', by: shownFailed },
  { from: 'processing', to: 'failed', by: shownFailed },
]
export const providerSteps: readonly Step<OutgoingStatus>[] = providerPath.map((step) => ({
  ...step,
  entries: [],
}))

/** Where a kind of outgoing money is stored, and the functions that post what it holds. */
export interface OutgoingTable {
  /** Such as `a withdrawal`. */
  readonly subject: string
  readonly table: 'withdrawals' | 'refunds'
  /** Begins the names of its statements. */
  readonly name: 'payouts' | 'refunds'
  /** The send states of a new row. */
  readonly initial: readonly SendState[]
  readonly entries: Readonly<Record<'completed' | 'failed', readonly string[]>>
  /** The column for what the provider takes for one that is paid. Absent: it takes nothing. */
  readonly feeColumn?: 'provider_fee_kobo'
  /** Why it ends without having been executed. */
  readonly unpaid: string
}

/** Money that comes back after `completed` changes no status: it opens a review. */
export function statusMachineOf({
  subject,
  table,
  entries,
  unpaid,
}: OutgoingTable): StateMachine<OutgoingStatus> {
  const steps = [...providerPath, { from: 'pending', to: 'failed', by: unpaid } as const]
  return {
    subject: `the status of ${subject}`,
    table,
    column: 'status',
    states: outgoingStatuses,
    initial: ['pending'],
    steps: steps.map((step) => ({
      ...step,
      entries: step.to === 'completed' || step.to === 'failed' ? entries[step.to] : [],
    })),
  }
}

/**
 * What we know about the sending (docs/decisions/0019).
 * - `identity_hold`, `confirmation_hold`: a withdrawal that its creator or an operator has yet to release; not sent yet
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
const sendSteps: readonly NamedStep<SendState>[] = [
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
  {
    from: 'resend',
    to: 'unknown',
    by: 'the provider has news of it, or an operator asks, before a worker sends it',
  },
  { from: 'resend', to: 'sent', by: accepted },
  { from: 'resend', to: 'manual_review', by: undecided },
  { from: 'resend', to: 'refused', by: `an operator voids it, or ${onlyRefusal}` },
  { from: 'manual_review', to: 'resend', by: 'an operator has it sent again' },
  { from: 'manual_review', to: 'sent', by: `${accepted}, or an operator resolves it` },
  { from: 'manual_review', to: 'refused', by: `an operator voids it, or ${onlyRefusal}` },
]

/** Money moves with `status`, never with a step of this table alone. */
export function sendMachineOf({
  subject,
  table,
  initial,
}: Pick<OutgoingTable, 'subject' | 'table' | 'initial'>): StateMachine<SendState> {
  const never = heldStates.filter((state) => !initial.includes(state))
  return {
    subject: `the send state of ${subject}`,
    table,
    column: 'send_state',
    states: sendStates.filter((state) => !never.includes(state)),
    initial,
    steps: sendSteps.filter(({ from }) => !never.includes(from)).map((step) => ({ ...step, entries: [] })),
  }
}

/** A person must do something before a worker may send it. */
export const heldStates: readonly SendState[] = ['identity_hold', 'confirmation_hold']
/** No request was ever sent. A later state may join the initial ones; without it here, the provider is asked about it. */
export const neverSentStates: readonly SendState[] = ['not_sent', ...heldStates]

const machine = sendMachineOf({ subject: 'outgoing money', table: 'withdrawals', initial: neverSentStates })

/** The send states that a status may have. The database checks each pair. */
export const sendStatesOf: Readonly<Record<OutgoingStatus, readonly SendState[]>> = {
  pending: openStates(machine),
  submitted: ['sent'],
  processing: ['sent'],
  completed: ['sent'],
  failed: ['sent', 'refused'],
}

/** The statuses that are not final: the money is held. */
export const openStatuses: readonly OutgoingStatus[] = ['pending', 'submitted', 'processing']
/** The provider has accepted it, and it has not failed. */
export const acceptedStatuses = stepsBetween(providerSteps, 'pending', 'completed').map(({ to }) => to)

export function hasEnded(status: OutgoingStatus): boolean {
  return !openStatuses.includes(status)
}

export const sendableStates = sourcesOf(machine, 'sending')
/** What an acceptance may find: while a request is on its way others decide too. */
export const acceptableStates = sourcesOf(machine, 'sent')
/** A request was or may have been sent, so the provider is asked. */
export const reconciledStates = sendStates.filter(
  (state) => !neverSentStates.includes(state) && !sendableStates.includes(state),
)
/** Of those, the states in which no worker is sending it, so the provider may be asked now. */
export const pollNowStates = reconciledStates.filter((state) => state !== 'sending')
/** Of those, the states in which nobody knows whether it was executed. */
export const unclearStates = pollNowStates.filter((state) => !isFinal(machine, state))
/** A request is or may be on its way, and nothing was decided about it since. */
export const unansweredStates = sourcesOf(machine, 'not_sent').filter(
  (state) => !neverSentStates.includes(state),
)

/** Throws when no machine lists the step. */
export function checkSendStep(from: SendState, to: SendState): void {
  checkStep(machine, from, to)
}
