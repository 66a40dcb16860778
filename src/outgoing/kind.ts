import type { DueRows } from '../platform/database/due-rows.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { ProviderTransfer, TransferState } from '../ports/payouts.js'
import type { Services } from '../services.js'
import type { DecisionInput, ProviderRules, ReviewReason } from './decide.js'
import type { OutgoingStatus, OutgoingTable, SendState } from './lifecycle.js'

export type OutgoingServices = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log'>

/** The fields that every row of outgoing money has, of whatever kind. */
export interface Outgoing {
  readonly id: string
  readonly status: OutgoingStatus
  readonly sendState: SendState
  /** Requests that may have reached the provider. */
  readonly sends: number
  /** The fence: the next worker that takes the row has another number. */
  readonly attempts: number
}

export interface DueToSend extends Outgoing {
  /** It is older than an accepted restore, or adopted, so the provider may have it: it is looked up first. */
  readonly looksUp: boolean
  /** Seconds since the last restore was accepted. */
  readonly sinceRestore: number | null
  /** The provider has shown it, and these rows had lost it: it is never sent. */
  readonly adopted: boolean
}

export interface DueToFollow extends Outgoing {
  /** How often the provider was asked since the last request was sent. */
  readonly polls: number
}

export interface LockedOutgoing extends DueToFollow, DecisionInput {
  /** When the last request that may have reached the provider began. Null: there was none. */
  readonly sentAt: Date | null
  /** How often an operator had it sent again. */
  readonly replays: number
}

/** How a row ended. `reason`: why nothing was paid. */
export type End =
  | { readonly status: 'completed'; readonly feeKobo: bigint }
  | { readonly status: 'failed'; readonly reason: string; readonly wasSent: boolean }

/**
 * A kind of money that leaves by the naira provider, as the engine sees it: where its rows are, how one is found, and what its end
 * does. The engine decides everything that keeps money from being sent twice (docs/decisions/0019).
 */
export interface OutgoingKind<Row extends LockedOutgoing = LockedOutgoing> extends OutgoingEnds<Row> {
  readonly toFollow: DueRows
  readonly rules: ProviderRules
  /** Seconds until the second question to the provider, and the most between two. */
  readonly pauses: { readonly first: number; readonly longest: number }
  /** The provider's record of it. Throws ProviderError. */
  find(row: Outgoing): Promise<ProviderTransfer | undefined>
  /** Locks a row. Every decision about one holds this lock, and takes it before the locks of the ledger. */
  lock(uow: UnitOfWork, id: string): Promise<Row | undefined>
  /** It is to be sent again: wakes the workers. */
  wakeSender(uow: UnitOfWork, row: Row): void
  /** Opens the case of a person. False: it is open, or settled. */
  openReview(
    uow: UnitOfWork,
    row: Row,
    reason: ReviewReason,
    found: ProviderTransfer | undefined,
  ): Promise<boolean>
  /** Why a person must act, where the row itself keeps that. Undefined: its reviews say it. */
  noteOf(reason: ReviewReason): string | undefined
  /** The provider has said it, so nobody has to decide about these any more. `row`: locked, or in `columns`. */
  closeReviews(
    uow: UnitOfWork,
    row: Outgoing,
    reasons: readonly ReviewReason[],
    state: TransferState,
  ): Promise<void>
  /** The provider shows the opposite of what these reviews are about. A new fact opens new ones. */
  outdateReviews(
    uow: UnitOfWork,
    row: Row,
    reasons: readonly ReviewReason[],
    found: ProviderTransfer,
  ): Promise<void>
  /** Seconds until the provider is asked again after its end, of which it has shown this now. Null: never. */
  watchPause(row: Row, found: ProviderTransfer | undefined): number | null
  /** Alarms an operator, after the commit. */
  alarm(row: Outgoing, what: OutgoingAlarm, text: string): void
}

export interface OutgoingEnds<Row extends LockedOutgoing = LockedOutgoing> {
  readonly table: OutgoingTable
  /** What a statement that changes a row returns of it, for `announce` and `closeReviews`: SQL that names the row `w`. */
  readonly columns: string
  fieldsOf(row: Outgoing): Readonly<Record<string, unknown>>
  /** Posts its end, before the row says so. Returns the ledger transfer; null: no money moves. */
  moveMoney(uow: UnitOfWork, row: Row, end: End): Promise<bigint | null>
  /** What else its end does, such as mails, after the row says so. */
  afterEnd(uow: UnitOfWork, row: Row, end: End): Promise<void>
  /** It went through these statuses: whoever waits for it reads again. `row`: as it is after them, in `columns`. */
  announce(uow: UnitOfWork, row: Outgoing, statuses: readonly OutgoingStatus[]): void
}

/** A request that can begin. */
export interface Prepared {
  /** Returns the provider's id. */
  readonly request: () => Promise<string>
  /** A value for each column of `learns`; null: the row has it, or it is not known. */
  readonly learned: readonly unknown[]
}

/** The same for the one process that sends. */
export interface SendingKind<Due extends DueToSend = DueToSend, Row extends LockedOutgoing = LockedOutgoing>
  extends OutgoingKind<Row> {
  readonly toSend: DueRows
  /** What must hold besides the switch for a request to begin, as SQL. */
  readonly mayLeave: string
  /** The columns of what is learned before a request begins. */
  readonly learns: readonly string[]
  /** Everything before money can leave. Undefined: it waits, and its due time is written. Throws ProviderError: nothing was sent. */
  prepare(due: Due): Promise<Prepared | undefined>
  /**
   * Whether limits hold it back now, under the lock of the switch. Writes its due time then and what was learned, and returns what
   * to do after the commit. Undefined: there are no limits.
   */
  readonly holdBack:
    | ((uow: UnitOfWork, due: Due, learned: readonly unknown[]) => Promise<(() => void) | undefined>)
    | undefined
  /** The provider has accepted it, this long after it was taken. */
  onAccepted(due: Due, secondsSinceTaken: number): void
}

/** `held_up`: it cannot be sent now. `unanswered`: nobody knows whether it was. `attention`: it waits at the provider's pages. */
export type OutgoingAlarm = 'held_up' | 'unanswered' | 'attention' | ReviewReason
