import { createHash } from 'node:crypto'
import { html, Markup } from '../http/pages/html.js'
import { palette } from '../http/pages/palette.js'
import { serviceName } from '../kernel/brand.js'
import { type Switch, switchWord } from '../platform/database/switches/switches.js'
import type { WorkKind } from '../platform/queue/wake-ups.js'
import { type OpenCase, opsCommand } from './open-cases.js'
import { standstillSeconds, type WorkCount, type WorkRow } from './work-rows.js'

/** What the page shows. */
export interface OperatorsView {
  readonly at: Date
  readonly counts: readonly WorkCount[]
  /** Rows that are due or have failed. */
  readonly rows: readonly WorkRow[]
  readonly openCases: readonly OpenCase[]
  readonly switches: readonly Switch[]
}

const refreshSeconds = 15

/** Dense, light and dark, a command is one click to select. In the document itself, so that the page needs no second request. */
const style = /* css */ `
${palette}body { margin: 0; background: var(--sheet); color: var(--text); font: .95rem/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { padding: 1.5rem; max-width: 100rem; margin: 0 auto; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
p { color: var(--muted); }
.scroll:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 100%; }
th, td { text-align: left; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--muted); font-size: .8rem; }
tbody th { font-weight: 600; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); }
.error { max-width: 26rem; overflow-wrap: anywhere; }
code { font: .82rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
main > p { overflow-wrap: anywhere; }
.command { background: var(--raised); padding: .15rem .4rem; border-radius: .25rem; user-select: all; white-space: nowrap; }
`
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The operators' page. It loads itself again. */
export function operatorsPage({ at, counts, rows, openCases, switches }: OperatorsView): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="${refreshSeconds}">
<title>Operators · ${serviceName}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main>
<h1>Operators</h1>
<p>Read from the database at ${at.toISOString()}, and again every ${refreshSeconds} s. This page changes nothing: copy a command and run it in a terminal. What happened to one tip, withdrawal, intent or creator: ${command(opsCommand('trace <id>'))}</p>
<h2>Waiting for a person</h2>
${casesTable(openCases)}
<h2>Switches</h2>
${switchesTable(switches)}
<h2>Work</h2>
${countsTable(counts)}
<h2>Rows that are due or failing</h2>
${rowsTable(rows)}
<p>The ledger: ${command(opsCommand('check-books'))}</p>
</main>
</body>
</html>
`.text
}

function countsTable(counts: readonly WorkCount[]): Markup {
  const lines = counts.map(({ kind, table, due, later, failing, oldestSeconds }) => {
    const isAtStandstill = (oldestSeconds ?? 0) >= standstillSeconds
    const state = isAtStandstill
      ? mark('standstill')
      : failing > 0
        ? mark('failing')
        : html`<span class="good">ok</span>`
    return html`<tr><th scope="row">${kind}</th><td>${table}</td><td class="number">${due}</td><td class="number">${formatAge(oldestSeconds)}</td><td class="number">${failing}</td><td class="number">${later}</td><td>${state}</td><td>${command(listCommand(kind))}</td></tr>`
  })
  return table(['Worker', 'Table', 'Due', 'Oldest', 'Failing', 'Later', 'State', 'Command'], lines)
}

function rowsTable(rows: readonly WorkRow[]): Markup {
  if (rows.length === 0) return html`<p>None.</p>`
  const lines = rows.map(
    (row) =>
      html`<tr><th scope="row">${row.kind}</th><td><code>${row.id}</code></td><td class="number">${row.dueSeconds > 0 ? formatAge(row.dueSeconds) : 'later'}</td><td class="number">${row.attempts}</td><td class="error">${row.lastError ?? ''}</td><td>${command(rowCommand(row))}</td></tr>`,
  )
  return table(['Worker', 'Row', 'Due for', 'Attempts', 'Last error', 'Command'], lines)
}

function casesTable(openCases: readonly OpenCase[]): Markup {
  const openFirst = [...openCases].sort((one, other) => Number(other.count > 0) - Number(one.count > 0))
  const lines = openFirst.map(({ what, count, oldestSeconds, command: words }) => {
    const state = count > 0 ? mark('open') : html`<span class="good">none</span>`
    return html`<tr><th scope="row">${what}</th><td class="number">${count}</td><td class="number">${formatAge(oldestSeconds)}</td><td>${state}</td><td>${command(words)}</td></tr>`
  })
  return table(['What', 'Number', 'Oldest', 'State', 'Command'], lines)
}

function switchesTable(switches: readonly Switch[]): Markup {
  const lines = switches.map(({ name, stoppedAt, changedBy, reason }) => {
    const word = switchWord(name, stoppedAt !== null)
    const other = word === 'on' ? 'off' : 'on'
    const state = stoppedAt === null ? html`<span class="good">${word}</span>` : mark(word)
    const words = opsCommand(`switch ${name} ${other} --apply --reason <text>`)
    return html`<tr><th scope="row">${name}</th><td>${state}</td><td>${stoppedAt?.toISOString() ?? '-'}</td><td>${changedBy ?? '-'}</td><td>${reason ?? ''}</td><td>${command(words)}</td></tr>`
  })
  return table(['Switch', 'State', 'Since', 'Changed by', 'Reason', 'Command'], lines)
}

function table(titles: readonly string[], lines: readonly Markup[]): Markup {
  const head = titles.map((title) => html`<th scope="col">${title}</th>`)
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${titles[0]}"><table><thead><tr>${head}</tr></thead><tbody>${lines}</tbody></table></div>`
}

/** Kinds of work whose rows are withdrawals and refunds. */
const outgoingKinds: readonly WorkKind[] = ['payouts', 'reconciler']

function listCommand(kind: WorkKind): string {
  return opsCommand(outgoingKinds.includes(kind) ? 'outgoing list' : `work list --kind ${kind}`)
}

/** For outgoing money only `show`: what may be done with it depends on what that prints. */
function rowCommand({ kind, id }: WorkRow): string {
  return opsCommand(
    outgoingKinds.includes(kind) ? `outgoing show ${id}` : `work retry ${id} --kind ${kind} --apply`,
  )
}

/** A command that one click selects. */
function command(words: string): Markup {
  return html`<code class="command">${words}</code>`
}

function mark(words: string): Markup {
  return html`<strong class="bad">${words}</strong>`
}

/** A duration as one number. */
function formatAge(seconds: number | null): string {
  if (seconds === null) return '-'
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
