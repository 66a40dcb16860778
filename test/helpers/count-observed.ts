import type { Histogram } from 'prom-client'

/** How many values a histogram has seen. */
export async function countObserved(histogram: Histogram): Promise<number> {
  const { values } = await histogram.get()
  return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0
}
