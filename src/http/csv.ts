import type { Context } from 'koa'

/** A cell: numbers are written as they are, texts may have been chosen by a stranger. */
type Cell = string | number | null

/** What a spreadsheet would take for a formula when a text begins with it (OWASP, CSV injection). */
const formulaStart = /^[=+\-@\t\r\n]/

/** Rows under their header as RFC 4180 text. A text that a spreadsheet would run gets an apostrophe in front. */
export function csvText(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
}

/**
 * Answers with a CSV file to be saved under this name. The next page, which a JSON answer names in `nextCursor`,
 * is in the `Link` header (RFC 8288), since a table has no place for it.
 */
export function answerCsv(ctx: Context, fileName: string, text: string, nextCursor: string | null): void {
  ctx.attachment(fileName)
  ctx.type = 'text/csv; charset=utf-8'
  if (nextCursor !== null) {
    const query = new URLSearchParams(ctx.querystring)
    query.set('cursor', nextCursor)
    ctx.set('Link', `<${ctx.path}?${query}>; rel="next"`)
  }
  ctx.body = text
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const safe = formulaStart.test(cell) ? `'${cell}` : cell
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
