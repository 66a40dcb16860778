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
  /** In order of time: of a long life one page, the newest first of all. */
  readonly lines: readonly StoryLine[]
  /** Lines before this time are on the next page. Null: there are none. */
  readonly older: Date | null
  /** What belongs to it and has a story of its own. */
  readonly related: readonly Subject[]
  /** Operators' commands that may help, without `npm run ops --`. */
  readonly commands: readonly string[]
}

/** A story before it is divided into pages. */
export type WholeStory = Omit<Story, 'older'>

/** Lines of one page. Lines of the same time as its first one are on it too. */
export const linesPerPage = 100
/** Rows that are read of a table for a page: enough for many of the same time. */
export const rowsPerPage = 3 * linesPerPage

/** The newest lines before a time. `lines` has at least all of a page. */
export function pageOf(story: WholeStory, before: Date): Story {
  const lines = story.lines
    .filter(({ at }) => at < before)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
  let start = Math.max(0, lines.length - linesPerPage)
  while (start > 0 && lines[start - 1]?.at.getTime() === lines[start]?.at.getTime()) start -= 1
  return { ...story, lines: lines.slice(start), older: start > 0 ? (lines[start]?.at ?? null) : null }
}

/** Lines as SQL: a query of times and texts. What has no time has not happened. */
export function readLines(
  db: Knex,
  name: string,
  sql: string,
  values: readonly unknown[],
): Promise<StoryLine[]> {
  const text = `select at, text from (${sql}) as happened (at, text) where at is not null`
  return query(db, { name: `trace.${name}`, text, values })
}

/** SQL of words about columns; null where one is null. */
export const timeSql = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
export const nairaSql = (kobo: string): string =>
  `'NGN ' || to_char(${kobo} / 100.0, 'FM999,999,999,999,990.00')`
export const amountSql = (units: string, decimals: string): string =>
  `trim_scale(${units}::numeric / power(10::numeric, ${decimals}))::text`
/** Names the request that made something, if one did, and the trace that its caller had begun. */
export const byRequestSql = (alias: string): string => /* sql */ `
  coalesce(', by the request ' || ${alias}.request_id, '') || coalesce(', in the trace ' || replace(${alias}.trace_id::text, '-', ''), '')`

/** What operators did with these subjects of the audit log. */
export function auditLines(db: Knex, subjects: readonly string[], before: Date): Promise<StoryLine[]> {
  return readLines(
    db,
    'audit',
    `select at, actor || ' did: ' || action from audit_log where subject = any($1::text[]) and at < $2
      order by at desc limit ${rowsPerPage}`,
    [subjects, before],
  )
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
