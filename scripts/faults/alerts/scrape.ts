import { readFileSync } from 'node:fs'
import { rulesFile } from './prometheus.js'

const startTime = 'tipping_process_start_time_seconds'
/** What the rules read, and what shows that a process was started again. Other metrics need no series. */
const wanted = new Set([startTime, ...(readFileSync(rulesFile, 'utf8').match(/\btipping_[a-z0-9_]+/g) ?? [])])
const timeoutMs = 5000

/** The value of each series of every process, by its name and labels as Prometheus writes them. */
export class Scrape {
  readonly values: ReadonlyMap<string, number>

  constructor(values: ReadonlyMap<string, number>) {
    this.values = values
  }

  max(metric: string, labels: Readonly<Record<string, string>> = {}): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...this.#matching(metric, labels))
  }

  min(metric: string, labels: Readonly<Record<string, string>> = {}): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#matching(metric, labels))
  }

  /** How often an alert was counted since then. */
  alerts(kind: string, before: Scrape): number {
    return this.grown(before, 'tipping_alerts_total', { kind })
  }

  /** How much a counter with these labels has grown. */
  grown(before: Scrape, metric: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.#series(metric, labels).reduce((sum, series) => sum + this.growth(before, series), 0)
  }

  growth(before: Scrape, series: string): number {
    const value = this.values.get(series) ?? 0
    return this.startedAgain(before, series) ? value : value - (before.values.get(series) ?? 0)
  }

  /** Whether the process of a series counts from 0 since then. */
  startedAgain(before: Scrape, series: string): boolean {
    const own = `${startTime}{${series.slice(series.indexOf('job="tipping"'))}`
    return this.values.get(own) !== before.values.get(own)
  }

  #matching(metric: string, labels: Readonly<Record<string, string>>): number[] {
    return this.#series(metric, labels).map((series) => this.values.get(series) ?? 0)
  }

  #series(metric: string, labels: Readonly<Record<string, string>>): string[] {
    const parts = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
    return [...this.values.keys()].filter(
      (series) => series.startsWith(`${metric}{`) && parts.every((part) => series.includes(part)),
    )
  }
}

/** Reads the metrics of every process, as Prometheus does. One that gives no answer is down. */
export async function scrape(
  processes: readonly { readonly name: string; readonly metrics: string }[],
): Promise<Scrape> {
  const read = await Promise.all(
    processes.map(async ({ name, metrics }) => {
      const own = `job="tipping",instance="${metrics}",process="${name}"`
      const text = await fetch(`http://${metrics}/metrics`, { signal: AbortSignal.timeout(timeoutMs) }).then(
        (answer) => (answer.ok ? answer.text() : undefined),
        () => undefined,
      )
      const series = text === undefined ? [] : seriesIn(text, own)
      return [[`up{${own}}`, text === undefined ? 0 : 1] as const, ...series]
    }),
  )
  return new Scrape(new Map(read.flat()))
}

function seriesIn(text: string, own: string): (readonly [string, number])[] {
  return text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (!wanted.has(name)) return []
    return [[`${name}{${labels === '' ? '' : `${labels},`}${own}}`, Number(value)] as const]
  })
}

/** Whether a series only grows, so that a change is a growth. */
export function isCounter(series: string): boolean {
  return /^\w+_(total|count|bucket|sum)\{/.test(series)
}
