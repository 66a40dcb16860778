import { setTimeout as sleep } from 'node:timers/promises'
import { requestOnce } from '../../kit/client.js'
import { percentile } from '../../kit/report.js'
import type { Stage } from '../world/stage.js'

const pauseMs = 100
const sampleMs = 2000
/** Of the latency of a normal client: it shares two cores with all that is sent. */
const mostSlower = 20
const leastBoundMs = 2000
/** Memory of the last third against the middle one. */
const mostGrowth = 1.1
const mostGrowthBytes = 16 * 2 ** 20

type Phase = 'calm' | 'under'

/** Reads a creator's tips again and again. */
export function normalClient(
  url: string,
  wallet: string,
  ending: { readonly isOver: boolean },
  note: (fault: string) => void,
): { phase: Phase; readonly done: Promise<void>; rows(): [string, string][] } {
  const times = { calm: [] as number[], under: [] as number[] }
  const going = async (): Promise<void> => {
    for (; !ending.isOver; await sleep(pauseMs)) {
      const startedAt = performance.now()
      const { status } = await requestOnce(url, ['GET', `/chain/tips?address=${wallet}`])
      times[client.phase].push(performance.now() - startedAt)
      if (status !== 200) note(`a normal client is answered ${status}`)
    }
  }
  const client = {
    phase: 'calm' as Phase,
    done: Promise.resolve(),
    rows: () => {
      const [before, under] = [whole(times.calm, 0.99), whole(times.under, 0.99)]
      if (under > Math.max(leastBoundMs, mostSlower * before))
        note(`a normal client waits ${under} ms at the 99th percentile, and ${before} ms before`)
      return Object.entries(times).map(([phase, all]): [string, string] => [
        `a normal client, ${phase}: answers; p50, p99, most ms`,
        `${all.length}; ${[0.5, 0.99, 1].map((share) => whole(all, share)).join(', ')}`,
      ])
    },
  }
  client.done = going()
  return client
}

type Samples = Map<string, { readonly rss: number; readonly heap: number }[]>

/** Of every process, until it is over. */
export function watchMemory({ processes }: Stage, ending: { readonly isOver: boolean }): Samples {
  const samples: Samples = new Map(processes.map(({ name }) => [name, []]))
  const going = async (): Promise<void> => {
    for (; !ending.isOver; await sleep(sampleMs))
      for (const { name, metricsUrl } of processes) {
        const text = await fetch(`${metricsUrl}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        )
        const read = (metric: string): number =>
          Number(new RegExp(`^tipping_${metric} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
        const rss = read('process_resident_memory_bytes')
        if (rss > 0) samples.get(name)?.push({ rss, heap: read('nodejs_heap_size_used_bytes') })
      }
  }
  void going()
  return samples
}

/** The median of what is resident, and the least heap, which is near to what is left after a collection. */
export function memoryRows(samples: Samples, note: (fault: string) => void): [string, string][] {
  return [...samples].map(([name, all]) => {
    const third = Math.floor(all.length / 3)
    const [middle, last] = [all.slice(third, 2 * third), all.slice(2 * third)]
    const rss = (of: typeof all): number =>
      whole(
        of.map((one) => one.rss / 2 ** 20),
        0.5,
      )
    const heap = (of: typeof all): number =>
      whole(
        of.map((one) => one.heap / 2 ** 20),
        0,
      )
    for (const [what, before, after] of [
      ['resident', rss(middle), rss(last)],
      ['heap', heap(middle), heap(last)],
    ] as const)
      if (after > before * mostGrowth + mostGrowthBytes / 2 ** 20)
        note(`${name}: ${what} memory grows from ${before} to ${after} MiB`)
    return [
      `${name}: MiB resident, least heap`,
      `${rss(middle)} to ${rss(last)}, ${heap(middle)} to ${heap(last)}`,
    ]
  })
}

function whole(values: readonly number[], share: number): number {
  return Math.round(percentile(values, share))
}
