import type { OutgoingStatus, SendState } from '../../../src/outgoing/lifecycle.js'
import type { TransferState } from '../../../src/ports/payouts.js'

// One withdrawal of one unit of money, and everything that can be known or under way about it. Read this first, then provider.ts,
// workers.ts and people.ts, which say what can happen; model.ts says what must never.

/** The row of `withdrawals`. */
export interface Row {
  readonly status: OutgoingStatus
  readonly send: SendState
  /** Requests that may have reached the provider. Three stand for more: no rule tells them apart. */
  readonly sends: number
  /** The last request that may have reached the provider (`sent_at`). 0: none. */
  readonly request: number
  /** PAYOUT_SECONDS are over since that request. */
  readonly settled: boolean
  /** The fence. Each worker that takes the row makes it another number. */
  readonly attempts: number
  /** It is older than an accepted restore, or adopted: the provider may have what it has not sent. */
  readonly old: boolean
  readonly adopted: boolean
  readonly recredited: boolean
  /** An operator has said what was paid. */
  readonly resolved: boolean
  /** The kinds of its reviews, in order; closed ones in parentheses. */
  readonly reviews: readonly string[]
}

/** What a restore sets back: the row, and the creator's balances in the ledger. `paid`: what the ledger has as paid out. */
interface Database {
  readonly row: Row | null
  readonly available: number
  readonly held: number
  readonly paid: number
}

/** The provider's transfer under our reference. */
export interface Transfer {
  readonly state: TransferState
  /** The provider's answers and lists have it. They may lag. */
  readonly shown: boolean
  /** It has another amount than was asked for. */
  readonly other: boolean
}

export type Outcome = 'accepted' | 'ambiguous' | 'rejected' | 'unavailable'

/** What a process that sends has in its memory. */
export type Sender =
  | {
      readonly at: 'taken'
      readonly send: SendState
      readonly attempts: number
      readonly old: boolean
      readonly adopted: boolean
      /** When it was taken, PAYOUT_SECONDS were over since the accepted restore. */
      readonly proven: boolean
      /** What the look at the provider has shown. */
      readonly looked: 'not yet' | 'absent' | 'found'
    }
  /** `sending` is committed, and not a byte is sent. `late`: it has stood still for a long time since. */
  | {
      readonly at: 'recorded'
      readonly request: number
      readonly sends: number
      readonly old: boolean
      readonly late: boolean
    }
  | {
      readonly at: 'answered'
      readonly request: number
      readonly sends: number
      readonly old: boolean
      readonly outcome: Outcome
    }

/** What a process that follows has in its memory: the provider's answer, which may be outdated. */
interface Follower {
  readonly attempts: number
  readonly found: Transfer | null
}

/** What an operator's command has in its memory. `asked`: as `Asked` of src/outgoing/guards.ts. */
export interface Command {
  readonly found: Transfer | null
  readonly asked: boolean | null
  /** The last request when it asked, and whether PAYOUT_SECONDS were over since. */
  readonly request: number
  readonly settled: boolean
}

export interface State {
  readonly database: Database
  /** A standby that has fallen behind, or a backup. */
  readonly copy: Database | null
  /** How often it can still be made the database. */
  readonly restores: number
  /** The database is where it was, or its restore was accepted. */
  readonly known: boolean
  /** PAYOUT_SECONDS are over since the restore was accepted. */
  readonly restoreSettled: boolean
  /** The creator has asked for the withdrawal. */
  readonly asked: boolean
  readonly transfer: Transfer | null
  /** How often the provider has executed our reference. */
  readonly executed: number
  /** A request that nobody waits for any more, and that may still arrive. */
  readonly onTheWire: number
  /** How often the provider may still do what it rarely does. */
  readonly oddities: number
  /** The provider has paid what it had shown as unpaid. Whatever we did, it was right then. */
  readonly turnedBack: boolean
  readonly senders: readonly (Sender | null)[]
  readonly follower: Follower | null
  readonly command: Command | null
}

/** What one run of the model is about. */
export interface Setting {
  /** FIATPAY_DEDUPLICATES: the provider refuses a reference that it has executed. */
  readonly deduplicates: boolean
  readonly senders: number
  readonly restores: number
  readonly oddities: number
  /** The provider may lose what it has accepted: it shows it no more, and never pays it. */
  readonly loses?: boolean
  /** An operator's command may stand still between its question and its transaction. */
  readonly slowOperator: boolean
  /** A past bug: the fix that is taken out. */
  readonly without?: Fix
}

/** Each of these was missing once, and money left twice or was lost. docs/decisions/0019 and 0072 say the rest. */
export type Fix =
  | 'sending is committed before the request'
  | 'a worker that stood still does not send'
  | 'a refusal ends only a row with no other request'
  | 'an answer resets only the request it answers'
  | 'absence counts after the settle time'
  | 'without deduplication only a person has it sent again'
  | 'a payment after a re-credit is a review'
  | 'a restored database sends nothing'
  | 'what is older than a restore is looked up'
  | 'absence after a restore counts after the settle time'
  | 'nothing that a restore may have lost is given back'
  | 'void waits for the settle time after a restore'
  | 'a row that was taken before a restore is taken again'
  | 'a command counts the time until its question'
  | 'what was accepted and is shown no more is a review'

/** One worker of each kind, and a provider that documents nothing. */
export const alone: Setting = {
  deduplicates: false,
  senders: 1,
  restores: 0,
  oddities: 0,
  slowOperator: false,
}

/** `rule`: what breaks without the fix. */
export type PastBug = Partial<Setting> & { readonly fix: Fix; readonly rule: string }

export const newRow: Row = {
  status: 'pending',
  send: 'not_sent',
  sends: 0,
  request: 0,
  settled: false,
  attempts: 0,
  old: false,
  adopted: false,
  recredited: false,
  resolved: false,
  reviews: [],
}

export function startOf({ senders, restores, oddities }: Setting): State {
  return {
    database: { row: null, available: 1, held: 0, paid: 0 },
    copy: null,
    restores,
    known: true,
    restoreSettled: false,
    asked: false,
    transfer: null,
    executed: 0,
    onTheWire: 0,
    oddities,
    turnedBack: false,
    senders: Array.from({ length: senders }, () => null),
    follower: null,
    command: null,
  }
}

export const setRow = (state: State, change: Partial<Row>): State => {
  const { database } = state
  return database.row === null
    ? state
    : { ...state, database: { ...database, row: { ...database.row, ...change } } }
}

/** What the provider answers to the question about our reference. */
export const shownBy = ({ transfer }: State): Transfer | null => (transfer?.shown === true ? transfer : null)

/** The creator's bank does not have it. */
export const isUnpaid = ({ state }: Transfer): boolean => state === 'failed' || state === 'returned'

/**
 * Gives equal states equal texts. Fences and requests are only compared, so what counts is their order; and it does not matter which
 * of two workers is which.
 */
export function normalize(state: State): State {
  const { database, copy, senders, follower, command } = state
  const rows = [database.row, copy?.row ?? null].filter((row) => row !== null)
  const held = senders.filter((sender) => sender !== null)
  const fences = ranks([
    ...rows.map(({ attempts }) => attempts),
    ...held.flatMap((sender) => (sender.at === 'taken' ? [sender.attempts] : [])),
    ...(follower === null ? [] : [follower.attempts]),
  ])
  const requests = ranks([
    0,
    ...rows.map(({ request }) => request),
    ...held.flatMap((sender) => (sender.at === 'taken' ? [] : [sender.request])),
    ...(command === null ? [] : [command.request]),
  ])
  const row = (of: Row): Row => ({ ...of, attempts: fences(of.attempts), request: requests(of.request) })
  const stored = (of: Database): Database => ({ ...of, row: of.row && row(of.row) })
  const sender = (of: Sender): Sender =>
    of.at === 'taken' ? { ...of, attempts: fences(of.attempts) } : { ...of, request: requests(of.request) }
  const sorted = senders.map((one) => one && sender(one))
  return {
    ...state,
    database: stored(database),
    copy: copy && stored(copy),
    senders: sorted.length < 2 ? sorted : sorted.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1)),
    follower: follower && { ...follower, attempts: fences(follower.attempts) },
    command: command && { ...command, request: requests(command.request) },
  }
}

const textOf = (sender: Sender | null): string => JSON.stringify(sender)

function ranks(values: readonly number[]): (value: number) => number {
  const sorted = [...new Set(values)].sort((one, other) => one - other)
  return (value) => sorted.indexOf(value)
}
