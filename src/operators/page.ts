import { html, type Markup } from '../http/pages/html.js'
import type { WorkKind } from '../platform/queue/wake-ups.js'
import { type OpenCase, opsCommand } from './open-cases.js'
import { standstillSeconds, type WorkRow, type WorkSum } from './work-rows.js'

/** What the page shows, as it was read at one moment. */
export interface OperatorsView {
  readonly at: Date
  readonly sums: readonly WorkSum[]
  /** Rows that are due or have failed. */
  readonly rows: readonly WorkRow[]
  readonly waiting: readonly OpenCase[]
}

/** The operators' page. `style`: where its stylesheet is; `board`: where the queues are shown. */
export function operatorsPage(
  { at, sums, rows, waiting }: OperatorsView,
  style: string,
  board: string,
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Operators</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<main>
<h1>Operators</h1>
<p>Read at ${at.toISOString()} from the database, which is the truth. <a href="">Read again</a> · <a href="${board}">Queues (Bull Board)</a>: wake-ups, and a job for each withdrawal. Nothing here changes anything: copy the command.</p>
<h2>Work</h2>
${sumsTable(sums)}
<h2>Rows due or failing</h2>
${rowsTable(rows)}
<h2>Waiting for a person</h2>
${waitingTable(waiting)}
<p>The books: ${command(opsCommand('check-books'))}</p>
</main>
</body>
</html>
`.text
}

function sumsTable(sums: readonly WorkSum[]): Markup {
  const lines = sums.map(({ kind, table, due, later, failing, oldestSeconds }) => {
    const still = (oldestSeconds ?? 0) >= standstillSeconds
    const state = still
      ? mark('stands still')
      : failing > 0
        ? mark('failing')
        : html`<span class="good">in order</span>`
    return html`<tr><th scope="row">${kind}</th><td>${table}</td><td class="number">${due}</td><td class="number">${age(oldestSeconds)}</td><td class="number">${failing}</td><td class="number">${later}</td><td>${state}</td><td>${command(listCommand(kind))}</td></tr>`
  })
  return table(['Worker', 'Table', 'Due', 'Oldest', 'Failing', 'Later', 'State', 'Look'], lines)
}

function rowsTable(rows: readonly WorkRow[]): Markup {
  if (rows.length === 0) return html`<p>None.</p>`
  const lines = rows.map(
    (row) =>
      html`<tr><th scope="row">${row.kind}</th><td><code>${row.id}</code></td><td class="number">${row.dueSeconds > 0 ? age(row.dueSeconds) : 'later'}</td><td class="number">${row.attempts}</td><td class="error">${row.lastError ?? ''}</td><td>${command(rowCommand(row))}</td></tr>`,
  )
  return table(['Worker', 'Row', 'Due for', 'Attempts', 'Last error', 'Look or do'], lines)
}

function waitingTable(waiting: readonly OpenCase[]): Markup {
  const lines = waiting.map(({ what, count, oldestSeconds, command: words }) => {
    const state = count > 0 ? mark('look') : html`<span class="good">none</span>`
    return html`<tr><th scope="row">${what}</th><td class="number">${count}</td><td class="number">${age(oldestSeconds)}</td><td>${state}</td><td>${command(words)}</td></tr>`
  })
  return table(['What', 'Number', 'Oldest', 'State', 'Look'], lines)
}

function table(titles: readonly string[], lines: readonly Markup[]): Markup {
  const head = titles.map((title) => html`<th scope="col">${title}</th>`)
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${titles[0]}"><table><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table></div>`
}

const paid: readonly WorkKind[] = ['payouts', 'reconciler']

function listCommand(kind: WorkKind): string {
  return opsCommand(paid.includes(kind) ? 'payouts list' : `work list --kind ${kind}`)
}

/** Of a withdrawal only to look: what is done with it depends on what is found. */
function rowCommand({ kind, id }: WorkRow): string {
  return opsCommand(paid.includes(kind) ? `payouts show ${id}` : `work retry ${id} --kind ${kind} --apply`)
}

function command(words: string): Markup {
  return html`<code class="command">${words}</code>`
}

function mark(words: string): Markup {
  return html`<strong class="bad">${words}</strong>`
}

/** Seconds as people say them. */
function age(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
