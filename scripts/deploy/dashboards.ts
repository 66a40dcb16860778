import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// `node dist/scripts/deploy/dashboards.js <folder>` writes the dashboards for Grafana, one file each.

/** Expressions of Prometheus, each by its legend. */
type Shows = Readonly<Record<string, string>>

const [width, height] = [12, 8]

/** A panel. Its place follows from its number, two in a row. */
const panel =
  (type: 'timeseries' | 'stat') => (title: string, unit: string, shows: Shows) => (index: number) => ({
    id: index + 1,
    type,
    title,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the dashboard
    datasource: { type: 'prometheus', uid: '${datasource}' },
    gridPos: { h: height, w: width, x: (index % 2) * width, y: Math.floor(index / 2) * height },
    // Money has no unit, and may be below zero.
    fieldConfig: { defaults: { unit, ...(unit === 'none' ? {} : { min: 0 }) }, overrides: [] },
    targets: Object.entries(shows).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode(65 + at),
      expr,
      legendFormat,
    })),
  })
const [series, stat] = [panel('timeseries'), panel('stat')]

function dashboard(name: string, title: string, panels: readonly ReturnType<typeof series>[]) {
  return {
    title,
    uid: `tipping-${name}`,
    schemaVersion: 39,
    version: 1,
    tags: ['tipping'],
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map((make, index) => make(index)),
  }
}

function quantiles(histogram: string, range: string): Shows {
  const of = (share: number) =>
    `histogram_quantile(${share}, sum by (le) (rate(${histogram}_bucket[${range}])))`
  return { p99: of(0.99), p50: of(0.5) }
}

export const dashboards = [
  dashboard('work', 'Tipping: what waits', [
    stat('Providers that answer', 'bool_yes_no', { '{{provider}}': 'min by (provider) (tipping_available)' }),
    stat('Paused by a switch or a restore', 'bool_yes_no', {
      '{{switch}}': 'max by (switch) (tipping_stopped)',
      'restored: nothing is sent': 'max(tipping_restored)',
    }),
    series('Oldest unfinished work', 's', {
      '{{kind}}': 'max by (kind) (tipping_oldest_unfinished_seconds)',
    }),
    series('Work that is late', 'short', { '{{kind}}': 'max by (kind) (tipping_late_rows)' }),
    series('Oldest due row', 's', { '{{kind}}': 'max by (kind) (tipping_oldest_due_seconds)' }),
    series('Cases for a person', 'short', { '{{case}}': 'max by (case) (tipping_open_cases) > 0' }),
    series('Oldest case', 's', { '{{case}}': 'max by (case) (tipping_oldest_case_seconds) > 0' }),
    series('Alerts counted in the last hour', 'short', {
      '{{kind}}': 'sum by (kind) (increase(tipping_alerts_total[1h])) > 0',
    }),
    series('Last sign of a clock, and age of these measurements', 's', {
      clock: 'max(tipping_clock_heartbeat_seconds)',
      measurement: 'min(tipping_state_age_seconds)',
    }),
    series('Failed batches per minute', 'short', {
      '{{kind}}': 'sum by (kind) (rate(tipping_drain_errors_total[5m])) * 60',
    }),
  ]),
  dashboard('slo', 'Tipping: service levels', [
    series('Tips: from the chain to the creator', 's', quantiles('tipping_tip_visible_seconds', '15m')),
    series('Naira: from paid to credited', 's', quantiles('tipping_naira_credit_seconds', '15m')),
    series('Withdrawals: from asked to sent', 's', quantiles('tipping_withdrawal_send_seconds', '15m')),
    series('Part that is too slow, last hour', 'percentunit', {
      tip_visible: 'tipping:tip_visible:bad_ratio_1h',
      naira_credit: 'tipping:naira_credit:bad_ratio_1h',
      withdrawal_send: 'tipping:withdrawal_send:bad_ratio_1h',
    }),
    series('Tips confirmed per minute', 'short', {
      tips: 'sum(rate(tipping_tips_confirmed_total[5m])) * 60',
    }),
    series('Answers per second by status', 'reqps', {
      '{{status}}': 'sum by (status) (rate(tipping_http_request_seconds_count[5m]))',
    }),
    series('Time to answer', 's', quantiles('tipping_http_request_seconds', '5m')),
    series('Open streams', 'short', { streams: 'sum(tipping_open_streams)' }),
    series('Calls to Solana RPC per second', 'reqps', {
      '{{method}}': 'sum by (method) (rate(tipping_rpc_calls_total[5m]))',
    }),
    series('RPC failures per minute', 'short', {
      '{{endpoint}}': 'sum by (endpoint) (rate(tipping_rpc_failures_total[5m])) * 60',
    }),
  ]),
  dashboard('money', 'Tipping: money', [
    series('Float at the provider (naira)', 'none', { balance: 'max(tipping_float_ngn)' }),
    series('Float beyond the books (naira)', 'none', {
      'not explained': 'max(tipping_float_unexplained_ngn)',
    }),
    series('Reserve surplus (naira)', 'none', { surplus: 'max(tipping_reserve_surplus_ngn)' }),
    stat('Custody wallets that lack tokens', 'short', { wallets: 'max(tipping_reserve_short_wallets)' }),
    series('USDC held for withdrawals', 'short', { held: 'max(tipping_held_usdc)' }),
    series('Age of the last reading and report', 's', {
      float: 'max(tipping_float_reading_age_seconds)',
      'reserve report': 'max(tipping_reserve_report_age_seconds)',
    }),
  ]),
]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = 'dashboards'] = process.argv.slice(2)
  mkdirSync(folder, { recursive: true })
  for (const one of dashboards)
    writeFileSync(join(folder, `${one.uid}.json`), `${JSON.stringify(one, undefined, 2)}\n`)
}
