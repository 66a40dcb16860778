import { csvText } from '../../http/csv.js'
import { pageOf, timePosition, timePositionFrom } from '../../http/paging.js'
import { tokens } from '../../kernel/tokens.js'
import type { Statement } from '../../platform/database/database.js'
import { queryInIndexOrder } from '../../platform/database/index-order.js'
import type { Services } from '../../services.js'
import { fiatSymbol, tipStatus } from '../schemas.js'
import type { CreatorTip, CreatorTipsInput } from './creator-schemas.js'
import { arrivedColumn, type ListedTip, listColumns, presentCreatorTip } from './present.js'

/** A search reads this many of the newest tips that the other filters let through. */
const searchedTips = 10_000
const maxPage = 100

interface CreatorTipsPage {
  readonly tips: CreatorTip[]
  /** The position of the last tip, where the next page starts. Undefined on the last page. */
  readonly next: string | undefined
  /** The oldest tip a search has read, when it did not read all. Null otherwise, and without a search. */
  readonly searchedSince: Date | null
}

/** `rowId`: two rows of one transaction show the same signature. */
type Row = ListedTip & { readonly rowId: string; readonly searchedSince: Date | null }

/**
 * The tips a creator received that match the filters, newest first. Reads one row more than the limit, to find out whether
 * there is a next page.
 */
export async function listCreatorTips(
  { reads }: Pick<Services, 'reads'>,
  userId: string,
  input: CreatorTipsInput,
): Promise<CreatorTipsPage> {
  const statement = creatorTipsStatement(userId, input)
  const rows = statement === undefined ? [] : await reads((db) => queryInIndexOrder<Row>(db, statement))
  const { page, last } = pageOf(
    rows.filter(({ id }) => id !== null),
    input.limit,
  )
  return {
    tips: page.map(presentCreatorTip),
    next: last && timePosition(last.recordedAt, last.rowId),
    searchedSince: rows[0]?.searchedSince ?? null,
  }
}

/** The sender as lists name it. */
const sentBy = 'coalesce(s.wallet, t.sender)'

/** Adds a value to a statement and returns its parameter. */
type AddValue = (value: unknown) => string
type Position = readonly [ms: number, id: string]

/**
 * One statement for each combination of filters that walks other indexes, so that the cost of a page does not depend on the
 * length of the history (docs/decisions/0024). The times and the cursor limit the range that is read of each index. Undefined:
 * no tip can match.
 */
export function creatorTipsStatement(
  userId: string,
  { cursor, limit, token, status, from, to, q, sender }: CreatorTipsInput,
): Statement | undefined {
  const values: unknown[] = []
  const add: AddValue = (value) => `$${values.push(value)}`
  const before = ([ms, id]: Position): string =>
    `(recorded_at, id) < ('epoch'::timestamptz + ${add(ms)}::float8 * interval '1 ms', ${add(id)}::text)`
  const walks = indexWalks({ token, status }, add)
  if (walks === undefined) return undefined
  const position = timePositionFrom(cursor, '')
  const isSearch = Boolean(q || sender)
  const end: Position = to === undefined ? timePositionFrom(undefined, '') : [to.getTime(), '']
  const party = `party as (select id, wallet, user_id from parties where user_id = ${add(userId)})`
  const range = `recorded_at >= coalesce(${add(from ?? null)}::timestamptz, '-infinity') and ${before(isSearch ? end : earlier(position, end))}`
  // Each walk has its own order and limit: without them the walks are sorted instead of merged.
  const newestFirst = `order by recorded_at desc, id desc limit ${isSearch ? searchedTips : maxPage + 1}`
  const walked = walks.conditions.map(
    (condition) =>
      `(select * from tips where recipient_party = (select id from party) and listed and ${condition} and ${range} ${newestFirst})`,
  )
  const newest = `select * from (${walked.join(' union all ')}) walked ${newestFirst}`
  // The recipient is the creator: one look-up for the page, not one for each tip.
  const parties = 'cross join party r left join parties s on s.id = t.sender_party'
  if (!isSearch) {
    const text = /* sql */ `
      with ${party}, newest as (${newest})
      select ${listColumns}, t.id as "rowId", ${arrivedColumn}, p.usd, null as "searchedSince"
      from newest t ${parties} left join prices p on p.mint = t.mint
      order by t.recorded_at desc, t.id desc limit ${add(limit + 1)}`
    return { name: `tips.received.${walks.name}`, text, values }
  }
  const found: string[] = []
  if (q) {
    const search = add(q)
    found.push(`(strpos(lower(t.message), lower(${search})) > 0 or strpos(lower(${sentBy}), lower(${search})) > 0
          or strpos(lower(t.sender_name), lower(${search})) > 0 or strpos(lower(t.reference), lower(${search})) > 0
          or strpos(lower(t.id), lower(${search})) > 0)`)
  }
  if (sender) found.push(`${sentBy} = ${add(sender)}::text`)
  // `strpos`: no character of the search is a pattern. `offset 0`: one look-up for each tip, never a scan of all parties.
  const text = /* sql */ `
    with ${party}, newest as materialized (
      select t.id, t.recorded_at, ${found.join(' and ')} as found
      from (${newest}) t left join lateral (select wallet from parties where id = t.sender_party offset 0) s on true
    ), page as (
      select id from newest where found and ${before(position)} order by recorded_at desc, id desc limit ${add(limit + 1)}
    ), searched as (
      select case when count(*) = ${searchedTips} then min(recorded_at) end as since from newest
    )
    select ${listColumns}, t.id as "rowId", ${arrivedColumn}, p.usd, searched.since as "searchedSince"
    from searched left join (page join tips t using (id) ${parties} left join prices p on p.mint = t.mint) on true
    order by t.recorded_at desc, t.id desc`
  return { name: `tips.received.${walks.name}${q ? '.search' : ''}${sender ? '.sender' : ''}`, text, values }
}

/** The parts of the list that match a token and a status, each in the order of one index. Listed chain tips are confirmed. */
function indexWalks(
  { token, status }: Pick<CreatorTipsInput, 'token' | 'status'>,
  add: AddValue,
): { readonly name: string; readonly conditions: readonly string[] } | undefined {
  const inToken = (mint: string): string => `status = 'confirmed' and kind = 'chain' and mint = ${mint}`
  const inNaira = (naira: string): string => `kind = 'fiat' and status = ${naira}`
  if (token === undefined && status === undefined)
    return { name: 'all', conditions: [`(status = 'confirmed' or kind = 'fiat')`] }
  if (token === undefined && status === 'confirmed') {
    const conditions = [...tokens.map(({ mint }) => inToken(`'${mint}'`)), inNaira(`'confirmed'`)]
    return { name: 'confirmed', conditions }
  }
  if (token === fiatSymbol && status === undefined)
    return { name: 'naira', conditions: tipStatus.options.map((option) => inNaira(`'${option}'`)) }
  if (token === undefined || token === fiatSymbol)
    return { name: 'naira-status', conditions: [inNaira(`${add(status)}::tip_status`)] }
  if (status === undefined || status === 'confirmed')
    return { name: 'token', conditions: [inToken(`${add(token)}::text`)] }
  return undefined
}

function earlier([ms, id]: Position, [endMs, endId]: Position): Position {
  return ms < endMs || (ms === endMs && id < endId) ? [ms, id] : [endMs, endId]
}

const columns = [
  'timestamp',
  'signature',
  'sender',
  'amount',
  'receivedAmount',
  'tokenSymbol',
  'valueUsd',
  'status',
  'message',
] as const satisfies readonly (keyof CreatorTip)[]
/** Of a naira tip that is paid: what the supporter paid, the platform's fee, and how much of the amount was given back. */
const nairaColumns = ['paidNGN', 'platformFeeUSD', 'refundedUSD'] as const
/** Only where a tip of the page has one: who sends none sees no new column. */
const ownColumns = ['reference', 'metadata'] as const
const nameColumn = ['senderName'] as const

/** Leaves out the words of an unpaid naira tip: anyone can write those, so no page shows them either. */
export function creatorTipsCsv(tips: readonly CreatorTip[]): string {
  const own = tips.some(({ reference, metadata }) => reference !== undefined || metadata !== undefined)
  const named = tips.some(({ senderName }) => senderName !== undefined)
  const added = [...(own ? ownColumns : []), ...(named ? nameColumn : [])]
  return csvText(
    [...columns, ...nairaColumns, ...added],
    tips.map((tip) => {
      const paid = tip.status === 'confirmed'
      const shown = paid || tip.tokenSymbol !== fiatSymbol ? tip : { ...tip, sender: null, message: null }
      const naira = paid ? tip.fiatDetails : null
      return [
        ...columns.map((column) => shown[column]),
        naira?.amountNgn ?? null,
        naira?.platformFee ?? null,
        tip.refundedAmount ?? null,
        ...added.map((column) => addedCell(tip[column])),
      ]
    }),
  )
}

function addedCell(value: CreatorTip[(typeof ownColumns | typeof nameColumn)[number]]): string | null {
  return typeof value === 'object' ? JSON.stringify(value) : (value ?? null)
}
