import { z } from 'zod'

const limitDefault = 50
const limitMost = 100
const limitText = new RegExp(`^(?:[1-9]\\d?|${limitMost})$`)

/** `limit` of a list: 1 to 100, default 50; anything else is 400 `Invalid limit`. */
export const limitInput = z
  .string('invalid_limit')
  .regex(limitText, 'invalid_limit')
  .transform(Number)
  .default(limitDefault)
  .meta({ description: `1 to ${limitMost}, default ${limitDefault}` })

/** `format` of a list: JSON, or a CSV file of the same page. */
export const formatInput = z.enum(['json', 'csv'], 'invalid_format').default('json')

/** `cursor` of a list whose positions look like this: as a page handed it out, or 400 `Invalid cursor`. */
export function cursorInput(position: RegExp) {
  return z
    .string('invalid_cursor')
    .transform((cursor) => positionOf(cursor))
    .refine((text) => position.test(text), 'invalid_cursor')
    .optional()
    .meta({ description: '`nextCursor` of the page before; absent: the newest' })
}

/** A position as clients carry it: opaque, so that it may change. Null stays null: there is no next page. */
export function cursorOf(position: string | undefined): string | null {
  return position === undefined ? null : Buffer.from(position).toString('base64url')
}

/** Empty unless it is exactly what `cursorOf` writes. */
function positionOf(cursor: string): string {
  const position = Buffer.from(cursor, 'base64url').toString()
  return cursorOf(position) === cursor ? position : ''
}

/** Rows that were read with one more than the page holds: the page, and its last row if another page follows. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly last: Row | undefined } {
  const page = rows.slice(0, limit)
  return { page, last: rows.length > limit ? page.at(-1) : undefined }
}

/** Beyond every row of a list by time: the year 5138. */
const beyondMs = 1e14

/** A position in a list that is ordered by time, then id. */
export function timePosition(at: Date, id: string): string {
  return `${at.getTime()}.${id}`
}

/** What `timePosition` wrote, the time in epoch ms; without a position one beyond every row, with this id. */
export function timePositionFrom(
  position: string | undefined,
  anyId: string,
): readonly [ms: number, id: string] {
  if (position === undefined) return [beyondMs, anyId]
  const dot = position.indexOf('.')
  return [Number(position.slice(0, dot)), position.slice(dot + 1)]
}
