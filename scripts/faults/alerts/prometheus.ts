import { once } from 'node:events'
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopChild } from '../../bootstrap/child-process.mjs'
import { Refusal } from '../../bootstrap/progress.mjs'
import { freePort } from '../../dev/ports.js'
import { respondsAt } from '../../dev/probe.js'
import { startProgram } from '../../dev/supervise.js'
import type { StageProcess } from '../month/stage.js'

export const rulesFile = fileURLToPath(
  new URL('../../../../scripts/deploy/monitoring/rules.yml', import.meta.url),
)
const startMs = 60_000
const stopMs = 10_000
/** Short, so that a run sees what is there for seconds. The rules wait in minutes. */
const scrapeSeconds = 5

/** Throws a Refusal where the programs of Prometheus are not installed. */
export function needPrometheus(): void {
  for (const program of ['prometheus', 'promtool'])
    if (!isInstalled(program)) throw new Refusal(`${program} is not installed: apt-get install prometheus`)
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** An alert that fired. */
export interface Fired {
  readonly name: string
  readonly severity: string
  /** Its other labels, as `kind=verifier`. */
  readonly labels: string
}

/** A Prometheus of this run, with the rules that are shipped. */
export interface Prometheus {
  /** Every alert that fired at any time since it runs. */
  fired(): Promise<readonly Fired[]>
  /** How many times it has evaluated an up process, and how many of these it could not read. */
  scrapes(): Promise<{ readonly all: number; readonly failed: number }>
  stop(): Promise<void>
}

export async function startPrometheus(
  folder: string,
  processes: readonly StageProcess[],
): Promise<Prometheus> {
  needPrometheus()
  const home = join(folder, 'prometheus')
  mkdirSync(home)
  const targets = processes.map(({ name, metrics }) => ({
    targets: [metrics],
    labels: { process: name },
  }))
  const config = {
    global: {
      scrape_interval: `${scrapeSeconds}s`,
      scrape_timeout: `${scrapeSeconds - 1}s`,
      evaluation_interval: `${scrapeSeconds}s`,
    },
    rule_files: [rulesFile],
    scrape_configs: [{ job_name: 'tipping', static_configs: targets }],
  }
  // JSON is YAML.
  const file = join(home, 'prometheus.yml')
  writeFileSync(file, JSON.stringify(config))
  const url = `http://127.0.0.1:${await freePort()}`
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(home, 'data')}`,
    `--web.listen-address=${new URL(url).host}`,
    '--log.level=error',
  ]
  const child = startProgram({ command: 'prometheus', args, signal: 'SIGTERM' })
  const startedAt = Date.now()
  if (!(await respondsAt(`${url}/-/ready`, startMs, () => child.exitCode === null))) {
    await stopChild(child, stopMs)
    throw new Error('Prometheus did not start')
  }
  async function query(text: string): Promise<QueryResult[]> {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`)
    const { status, data, error } = (await answer.json()) as QueryAnswer
    if (status !== 'success' || data === undefined) throw new Error(`Prometheus: ${error}`)
    return data.result
  }
  const range = (): string => `${Math.ceil((Date.now() - startedAt) / 1000) + scrapeSeconds}s`
  const value = async (text: string): Promise<number> => Number((await query(text))[0]?.value[1] ?? 0)
  return {
    async fired() {
      const found = await query(`max_over_time(ALERTS{alertstate="firing"}[${range()}])`)
      return found.map(({ metric }) => {
        const { alertname = '', severity = '', alertstate, __name__, job, ...rest } = metric
        const labels = Object.entries(rest).map(([name, text]) => `${name}=${text}`)
        return { name: alertname, severity, labels: labels.join(', ') }
      })
    },
    async scrapes() {
      const all = await value(`sum(count_over_time(up[${range()}]))`)
      return { all, failed: all - (await value(`sum(sum_over_time(up[${range()}]))`)) }
    },
    async stop() {
      const ended = child.exitCode === null ? once(child, 'exit') : undefined
      await stopChild(child, stopMs)
      await ended
    },
  }
}

interface QueryResult {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [at: number, value: string]
}

interface QueryAnswer {
  readonly status: string
  readonly error?: string
  readonly data?: { readonly result: QueryResult[] }
}
