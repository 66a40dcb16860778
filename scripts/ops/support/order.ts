import { userInfo } from 'node:os'
import type { Knex } from 'knex'
import { AuditEntry } from '../../../src/operators/models.js'

/** Wrong arguments; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The command refuses to do what was asked; exit code 1. `json`: further keys of the answer for programs. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly json: Readonly<Record<string, unknown>>

  constructor(message: string, json: RefusedError['json'] = {}) {
    super(message)
    this.json = json
  }
}

/** --confirm is missing or wrong; exit code 3. */
export class UnconfirmedError extends Error {
  override name = 'UnconfirmedError'
}

const longestReason = 500
/** The last words of every plan. */
export const applyHint = 'add --apply to do it'

/** What an operator wants done: by whom, why, and whether it is done now or only planned. */
export class Order {
  readonly apply: boolean
  /** The name in the audit log: --as, or the user of the operating system. */
  readonly by: string
  readonly #given: { readonly reason?: string | undefined; readonly confirm?: string | undefined }

  constructor(given: {
    readonly apply?: boolean | undefined
    readonly as?: string | undefined
    readonly reason?: string | undefined
    readonly confirm?: string | undefined
  }) {
    this.apply = given.apply === true
    this.by = given.as?.trim() || userInfo().username
    this.#given = given
  }

  /** Throws UsageError when --reason is missing or too long. */
  requireReason(): string {
    const text = this.#given.reason?.trim() ?? ''
    if (text === '' || text.length > longestReason)
      throw new UsageError(`--reason is required: say why, in 1 to ${longestReason} characters`)
    return text
  }

  /** The reason of what is done now. Empty in a plan. Throws UsageError. */
  reason(): string {
    return this.apply ? this.requireReason() : ''
  }

  /**
   * The same for what cannot be undone: --confirm must repeat what it is about. Throws UnconfirmedError, UsageError.
   */
  confirmed(what: string, expected: string): string {
    if (this.apply && this.#given.confirm !== expected)
      throw new UnconfirmedError(`${what} needs --confirm=${expected}`)
    return this.reason()
  }

  /** One line about a change: that it was made, or that it is only planned. `done`: the participle, such as `accepted`. */
  tell(change: string, done: string, applied = this.apply): string {
    return describeChange(change, done, applied)
  }

  /** Writes it to the audit log with the reason, in the transaction of the change. Amounts become decimal text. */
  async audit(
    trx: Knex.Transaction,
    action: string,
    subject: string,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const { reason } = this.#given
    const all = { ...(reason === undefined ? {} : { reason: reason.trim() }), ...details }
    await AuditEntry.query(trx).insert({
      actor: this.by,
      action,
      subject,
      details: JSON.parse(jsonText(all)),
    })
  }
}

/** JSON in which amounts are decimal text. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one))
}

export function describeChange(change: string, done: string, applied: boolean): string {
  return applied ? `${change}: ${done}` : `${change}: not ${done} yet; ${applyHint}`
}

/** The change that a plan describes. */
export function changeIn(plan: string): string {
  return plan.replace(new RegExp(`: not [^:]+ yet; ${applyHint}$`), '')
}
