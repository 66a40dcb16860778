import { z } from 'zod'

const limitDefault = 50
const limitMost = 100
const limitText = new RegExp(`^(?:[1-9]\\d?|${limitMost})$`)

/** The `limit` of a list: 1 to 100, default 50. Anything else is 400 `Invalid limit`. */
export const limitInput = z
  .string('invalid_limit')
  .regex(limitText, 'invalid_limit')
  .transform(Number)
  .default(limitDefault)
  .meta({ description: `1 to ${limitMost}, default ${limitDefault}` })

/** The `format` of a list: JSON, or a CSV file of the same page. */
export const formatInput = z.enum(['json', 'csv'], 'invalid_format').default('json')

/** The `cursor` of a list. `position` is the form of the list's positions. Any other cursor is 400 `Invalid cursor`. */
export function cursorInput(position: RegExp) {
  return z
    .string('invalid_cursor')
    .transform((cursor) => positionOf(cursor))
    .refine((text) => position.test(text), 'invalid_cursor')
    .optional()
    .meta({ description: '`nextCursor` of the page before; absent: the newest' })
}

/** Encodes a position for clients. Cursors are opaque, so that their form can change. Null: there is no next page. */
export function cursorOf(position: string | undefined): string | null {
  return position === undefined ? null : Buffer.from(position).toString('base64url')
}

/** Decodes a cursor. Empty unless `cursorOf` encodes the position to exactly this text. */
function positionOf(cursor: string): string {
  const position = Buffer.from(cursor, 'base64url').toString()
  return cursorOf(position) === cursor ? position : ''
}

/** Cuts a page from rows that were read with one extra row. `last` is the page's last row if another page follows. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly last: Row | undefined } {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}

/** Later than every row: the year 5138. */
const farFutureMs = 1e14

/** The position of a row in a list ordered by time, then id. */
export function timePosition(at: Date, id: string): string {
  return `${at.getTime()}.${id}`
}

/** Parses a `timePosition`; the time is in epoch ms. Without a position: a time after every row, with `anyId`. */
export function timePositionFrom(
  position: string | undefined,
  anyId: string,
): readonly [ms: number, id: string] {
  if (position === undefined) return [farFutureMs, anyId]
  const dot = position.indexOf('.')
  return [Number(position.slice(0, dot)), position.slice(dot + 1)]
}
