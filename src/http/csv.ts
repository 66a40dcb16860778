import type { Context } from 'koa'

/** Texts may come from strangers and are made safe. Numbers are written unchanged. */
type Cell = string | number | null

/** A spreadsheet treats a text that starts with one of these, or its full-width form, as a formula (OWASP, CSV injection). */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/** Writes a header and rows as RFC 4180 text. A text that looks like a formula gets a leading apostrophe. */
export function csvText(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
}

/** Answers with a CSV file of this name. `nextCursor` goes into the `Link` header (RFC 8288). */
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
