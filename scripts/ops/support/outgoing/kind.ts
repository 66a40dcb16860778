import type { Composed } from '../../../../src/compose.js'
import type { ProcessKind } from '../../../../src/platform/config/process-secrets.js'
import type { Outcome } from '../command.js'
import type { Order } from '../order.js'

/** Which are listed, the oldest first. */
export interface Filter {
  /** `open`, `all`, a status or a send state; of withdrawals also `breaker` and `dispute`: what they wait for. */
  readonly state: string
  readonly olderThanSeconds: number
  readonly limit: number
}

/** One in a list. */
export interface Listed {
  readonly line: string
  readonly json: Readonly<Record<string, unknown>>
  readonly createdAt: Date
  readonly waitsForPerson: boolean
}

/** What an operator says about an act besides the reason. */
export interface ActOptions {
  readonly now?: boolean | undefined
  readonly paid?: string | undefined
  readonly creator?: string | undefined
  readonly usdc?: string | undefined
}

/** What operators can do with one kind of outgoing money. */
export interface OperatorKind<Action extends string = string> {
  /** What its ids are. */
  readonly ids: string
  /** The command whose secrets its acts need. */
  readonly secrets: Extract<ProcessKind, `ops ${string}`>
  readonly actions: readonly Action[]
  isId(text: string): boolean
  show(services: Composed, id: string): Promise<Outcome>
  act(
    services: Composed,
    action: Action,
    ids: readonly string[],
    order: Order,
    options: ActOptions,
  ): Promise<Outcome>
}

/** A kind with a list of its own. */
export interface ListedKind<Action extends string = string, Needs = Pick<Composed, 'db' | 'config'>>
  extends OperatorKind<Action> {
  /** The key of the list in JSON. */
  readonly plural: string
  /** One of them, for people. */
  readonly one: string
  list(services: Needs, filter: Filter): Promise<readonly Listed[]>
}

/** The outcome of a list. Exit code 4 while one waits for a person, unless `ok`. */
export function presentList(
  key: string,
  rows: readonly Listed[],
  nothing: string,
  ok = !rows.some(({ waitsForPerson }) => waitsForPerson),
): Outcome {
  return {
    ok,
    text: rows.map(({ line }) => line).join('\n') || nothing,
    json: { [key]: rows.map(({ json }) => json) },
  }
}
