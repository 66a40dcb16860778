import type { Outcome } from './stage.js'

/** The rows of a table of what a run did. */
export function figuresOf(outcome: Outcome): string[] {
  const { requests, failed, byKind, recorded, events, connections } = outcome
  const row = (name: string, value: string | number): string =>
    `${name.padEnd(36)}${String(value).padStart(24)}`
  const times = Object.entries(byKind).map(([kind, ms]) => {
    const sorted = ms.toSorted((a, b) => a - b)
    const at = (share: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
    return row(`${kind}: p50, p99, most (ms)`, `${at(0.5)}, ${at(0.99)}, ${at(1)}`)
  })
  return [
    row('requests', requests),
    row('failed', failed),
    row('tips recorded', recorded),
    row('events that came', events),
    row('connections of streams', connections),
    ...times,
  ]
}
