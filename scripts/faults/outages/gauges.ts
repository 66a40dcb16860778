import { waitUntil } from '../../dev/wait-until.js'
import type { Run } from './scenario.js'

const waitMs = 120_000
const scrapeMs = 10_000

/**
 * Waits until `tipping_available` of a provider has this value at one of these processes. A provider that answers is asked every few
 * minutes; here its measurement is made old, so that it is asked now.
 */
export async function untilGauge(
  { stage }: Run,
  ports: readonly number[],
  provider: string,
  value: 0 | 1,
): Promise<void> {
  const line = `tipping_available{provider="${provider}"} ${value}`
  async function isShown(): Promise<boolean> {
    await stage
      .db('measurements')
      .where({ name: provider })
      .update({ measured_at: stage.db.raw(`clock_timestamp() - interval '1 hour'`) })
    const pages = await Promise.all(ports.map(scrape))
    return pages.some((page) => page.split('\n').includes(line))
  }
  if (!(await waitUntil(isShown, waitMs))) throw new Error(`no process shows ${line}; logs: ${stage.logs}`)
}

function scrape(port: number): Promise<string> {
  return fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(scrapeMs) }).then(
    (answer) => answer.text(),
    () => '',
  )
}
