import type { Databases } from './database.js'
import { type Outcome, type Plan, simulate } from './run.js'

const mostRuns = 150

/**
 * Leaves out people's acts and mishaps, half of them, a quarter, one by one, as long as the same promise is broken. Returns the run
 * that needs the fewest that were found.
 */
export async function shorten(
  databases: Databases,
  plan: Plan,
  broken: Outcome,
  report: (text: string) => void,
): Promise<Outcome> {
  let best = broken
  const without = new Set<string>()
  let runs = 0
  for (let size = Math.ceil(best.mishaps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best.mishaps.length && runs < mostRuns; ) {
      const left = best.mishaps.slice(from, from + size)
      const tried = new Set([...without, ...left])
      const outcome = await simulate(databases, { ...plan, without: tried })
      runs += 1
      if (kindOf(outcome) === kindOf(broken) && outcome.mishaps.length < best.mishaps.length) {
        for (const name of left) without.add(name)
        best = outcome
        report(`${best.mishaps.length} acts and mishaps are left of ${broken.mishaps.length}`)
      } else from += size
    }
  return best
}

/** The promise, whatever the reference and the amounts. */
function kindOf({ faults: [first = ''] }: Outcome): string {
  return first.replaceAll(/\S*\d\S*/g, '')
}
