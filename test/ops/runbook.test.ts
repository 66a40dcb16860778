import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'ava'
import type { ReviewKind } from '../../src/withdrawals/review/review.js'

const runbook = readFileSync('docs/operations.md', 'utf8')

const reviewKinds = {
  unknown: true,
  mismatch: true,
  reversed: true,
  failed_after_completed: true,
  paid_after_failed: true,
  paid_after_recredit: true,
} satisfies Record<ReviewKind, true>

/** The headings of kinds that the source builds from a template. `*` is the inserted part. */
const headingsOfTemplate: Readonly<Record<string, readonly string[]>> = {
  'payout_*': Object.keys(reviewKinds).map((kind) => `payout_${kind}`),
  'standstill_*': ['standstill_<worker>'],
}

/** All TypeScript files of the service as one text. */
function readSources(): string {
  const files = ['src', 'workers'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const sources = files.filter((file) => file.endsWith('.ts'))
  return sources.map((file) => readFileSync(file, 'utf8')).join('\n')
}

function matchAll(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([whole, first]) => first ?? whole)
}

/** The part of the runbook under a heading of the second level. */
function sectionOf(heading: string): string {
  const [, after = ''] = runbook.split(`\n## ${heading}\n`)
  return after.split('\n## ')[0] ?? ''
}

test('the runbook has one heading for every alert kind that the source counts, and no other', (t) => {
  const sources = readSources()
  const kinds = matchAll(sources, /alerts\.inc\(\s*\{\s*kind:\s*['`](.+?)['`]\s*\}/g)
  t.is(kinds.length, matchAll(sources, /alerts\.inc\(/g).length, 'every call names its kind in place')
  const templates = kinds.map((kind) => kind.replace(/\$\{.+?\}/g, '*'))
  const counted = new Set(templates.flatMap((kind) => headingsOfTemplate[kind] ?? kind))
  const headings = matchAll(sectionOf('Alerts'), /^### `?(.+?)`?$/gm)
  t.deepEqual(headings.toSorted(), [...counted].sort())
})

test('the table of alerts and the headings name the same kinds', (t) => {
  const alerts = sectionOf('Alerts')
  const listed = matchAll(alerts, /^\| \[`(.+?)`\]/gm)
  t.deepEqual(listed.toSorted(), matchAll(alerts, /^### `?(.+?)`?$/gm).toSorted())
})

test('the runbook names every setting of .env.example', (t) => {
  const settings = matchAll(readFileSync('.env.example', 'utf8'), /^# ([A-Z0-9_]+)=/gm)
  t.true(settings.length > 50)
  const documented = new Set(matchAll(sectionOf('Settings'), /`([A-Z0-9_]+)`/g))
  t.deepEqual(
    settings.filter((name) => !documented.has(name)),
    [],
  )
})

test('the runbook names every operators’ command', (t) => {
  const commands = readdirSync('scripts/ops', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('support'))
    .map((file) => basename(file, '.ts'))
  t.deepEqual(matchAll(sectionOf("Operators' commands"), /^### (.+)$/gm).toSorted(), commands.toSorted())
})
