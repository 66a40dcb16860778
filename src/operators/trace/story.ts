import type { Knex } from 'knex'
import { displayText } from '../../kernel/money.js'
import { query } from '../../platform/database/database.js'

/** What a story is about. */
export interface Subject {
  readonly kind: 'tip' | 'withdrawal' | 'intent' | 'creator'
  /** A tip's id, a withdrawal's reference, an intent's id, a user's id. */
  readonly id: string
}

/** Something that happened, in plain words. */
export interface StoryLine {
  readonly at: Date
  readonly text: string
}

/** The whole life of one tip, withdrawal, intent or creator, from all tables. It holds no personal data of a payer. */
export interface Story extends Subject {
  /** What it is and how it stands, one sentence each. */
  readonly facts: readonly string[]
  /** In order of time. */
  readonly lines: readonly StoryLine[]
  /** What belongs to it and has a story of its own, newest first. */
  readonly related: readonly Subject[]
  /** Operators' commands that may help, without `npm run ops --`. */
  readonly commands: readonly string[]
}

interface AuditLine {
  readonly at: Date
  readonly actor: string
  readonly action: string
}

/** What operators did with these subjects of the audit log. */
export async function auditLines(db: Knex, subjects: readonly string[]): Promise<StoryLine[]> {
  const rows = await query<AuditLine>(db, {
    name: 'trace.audit',
    text: /* sql */ `select at, actor, action from audit_log where subject = any($1::text[])`,
    values: [subjects],
  })
  return rows.map(({ at, actor, action }) => ({ at, text: `${actor} did: ${action}` }))
}

interface EntryRow {
  readonly at: Date
  readonly kind: string
  readonly account: string
  readonly isUser: boolean
  readonly currency: 'USDC' | 'NGN'
  readonly amount: bigint
}

/** The ledger transfers with these keys, one line each. A key also finds what posts or voids its reserve. */
export async function ledgerLines(db: Knex, keys: readonly string[]): Promise<StoryLine[]> {
  const rows = await query<EntryRow & { id: bigint }>(db, {
    name: 'trace.ledger',
    text: /* sql */ `
      select t.id, t.created_at as at, t.kind, a.kind as account, a.user_id is not null as "isUser", a.currency, e.amount
        from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
       where t.idem = any($1::text[]) order by t.id, a.user_id is null, a.id`,
    values: [keys.flatMap((key) => [key, `${key}:resolve`])],
  })
  const transfers = new Map<bigint, EntryRow[]>()
  for (const { id, ...row } of rows) transfers.set(id, [...(transfers.get(id) ?? []), row])
  return [...transfers.values()].map((entries) => ({
    at: entries[0]?.at ?? new Date(0),
    text: `ledger, ${entries[0]?.kind}: ${entries.map(entryText).join('; ')}`,
  }))
}

function entryText({ account, isUser, currency, amount }: EntryRow): string {
  const text = displayText(amount, currency === 'USDC' ? 6 : 2)
  return `${isUser ? "the creator's" : "the platform's"} ${account} ${amount > 0n ? '+' : ''}${text} ${currency}`
}

/** One line for each time that is known. */
export function linesAt(times: Readonly<Record<string, Date | null | undefined>>): StoryLine[] {
  return Object.entries(times).flatMap(([text, at]) => (at ? [{ at, text }] : []))
}

export function inOrder(lines: readonly StoryLine[]): StoryLine[] {
  return [...lines].sort((one, other) => one.at.getTime() - other.at.getTime())
}
