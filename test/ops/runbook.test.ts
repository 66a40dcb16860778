import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { dashboards } from '../../scripts/deploy/dashboards.js'
import type { ReviewReason } from '../../src/outgoing/decide.js'
import { alertKinds } from '../../src/platform/monitoring/alert-kinds.js'
import { createMetrics } from '../../src/platform/monitoring/metrics.js'

const runbook = readFileSync('docs/operations.md', 'utf8')

const reviewKinds = {
  unknown: true,
  mismatch: true,
  reversed: true,
  failed_after_completed: true,
  paid_after_failed: true,
  paid_after_recredit: true,
} satisfies Record<ReviewReason, true>

/** The kinds that the source builds from a template. `*` is the inserted part. */
const kindsOfTemplate: Readonly<Record<string, readonly string[]>> = {
  'payout_*': [...Object.keys(reviewKinds), 'held_up', 'unanswered'].map((kind) => `payout_${kind}`),
}

/** Kinds that no rule counts: the state fires its rule, or nobody would have to act. */
const withoutRule = ['payout_unanswered']

const monitoring = 'scripts/deploy/monitoring'
const rules = readFileSync(`${monitoring}/rules.yml`, 'utf8')
const ruleNames = matchAll(rules, /^ {6}- alert: (\S+)$/gm)
/** The kinds in the expressions of the rules. */
const ruledKinds = matchAll(rules, /tipping_alerts_total\{kind=~?"([\w|]+)"/g).flatMap((kinds) =>
  kinds.split('|'),
)

/** All TypeScript files of these folders as one text. */
function readTypeScript(...folders: readonly string[]): string {
  const files = folders.flatMap((folder) =>
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

test('the rules know every alert kind that the source counts, and the runbook has one heading for every rule and no other', (t) => {
  const sources = readTypeScript('src', 'workers')
  const kinds = matchAll(sources, /alerts\.inc\(\s*\{\s*kind:\s*['`](.+?)['`]\s*\}/g)
  t.is(kinds.length, matchAll(sources, /alerts\.inc\(/g).length, 'every call names its kind in place')
  const templates = kinds.map((kind) => kind.replace(/\$\{.+?\}/g, '*'))
  const counted = new Set(templates.flatMap((kind) => kindsOfTemplate[kind] ?? kind))
  t.deepEqual(alertKinds.toSorted(), [...counted].sort(), 'each counts from 0')
  t.deepEqual([...ruledKinds, ...withoutRule].toSorted(), [...counted].sort())
  t.deepEqual(matchAll(sectionOf('Alerts'), /^### (.+?)$/gm).toSorted(), ruleNames.toSorted())
})

test('each alert says what is at risk, where to look, what to do, and by which state it is over', (t) => {
  const [, ...entries] = sectionOf('Alerts').split('\n### ')
  for (const entry of entries) {
    const [heading = ''] = entry.split('\n')
    const labels = matchAll(entry, /^- \*\*(.+?):\*\*/gm)
    t.deepEqual(labels, ['At risk', 'Look here', 'Do this', 'Over when'], heading)
    t.notRegex(entry, /stops growing/, heading)
  }
})

/** The names in an expression of Prometheus that are metrics of ours, or recorded by a rule. */
function metricsIn(expression: string): string[] {
  return matchAll(expression, /\btipping[_:][a-z0-9_:]+/g)
}

test('each alert rule links its heading, and every metric of rules and dashboards exists', async (t) => {
  t.is(new Set(ruleNames).size, ruleNames.length)
  t.deepEqual(matchAll(rules, /runbook_url: "\{\{ \$externalLabels\.runbook \}\}#(\w+)"/g), ruleNames)
  const tested = readFileSync(`${monitoring}/rules.test.yml`, 'utf8')
  t.deepEqual(
    ruleNames.filter((name) => !new RegExp(`alertname(: |=")${name}["\n]`).test(tested)),
    [],
    'fires in a test of promtool',
  )
  t.deepEqual(
    ruledKinds.filter((kind) => !tested.includes(`tipping_alerts_total{kind="${kind}",instance`)),
    [],
    'all counts grow in one test of promtool',
  )
  const families = await createMetrics().registry.getMetricsAsJSON()
  const metrics = families.flatMap(({ name, type }) =>
    String(type) === 'histogram' ? ['bucket', 'count', 'sum'].map((part) => `${name}_${part}`) : [name],
  )
  const existing = new Set([...metrics, ...matchAll(rules, /^ {6}- record: (\S+)$/gm)])
  const expressions = matchAll(rules, /^ {8}expr: '(.*)'$/gm)
  t.is(expressions.length, matchAll(rules, /^ {6}- (?:alert|record):/gm).length)
  t.deepEqual(
    expressions.flatMap(metricsIn).filter((name) => !existing.has(name)),
    [],
  )

  t.deepEqual(
    dashboards
      .flatMap(({ panels }) => panels.flatMap(({ targets }) => targets))
      .filter(({ expr }) => {
        const names = metricsIn(expr)
        return names.length === 0 || names.some((name) => !existing.has(name))
      }),
    [],
    'what the dashboards show',
  )
})

test('every kind that is counted is asserted where a test makes its cause', (t) => {
  const tests = readTypeScript('test')
  t.deepEqual(
    alertKinds.filter((kind) => !new RegExp(`['"]${kind}['"]`).test(tests)),
    [],
  )
})
