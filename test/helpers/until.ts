import { setTimeout as sleep } from 'node:timers/promises'
import type { Sandbox } from '../../scripts/sandbox/server.js'

const pollMs = 20
/** Wide: on a machine with other work everything takes several times as long. */
const defaultMs = 60_000

/**
 * Waits until a condition holds. Fails with the condition's name when the time is over. `milliseconds` only where the time
 * is what the test is about.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  milliseconds = defaultMs,
): Promise<void> {
  for (const deadline = Date.now() + milliseconds; !(await holds()); await sleep(pollMs))
    if (Date.now() > deadline) throw new Error(`not within ${milliseconds} ms: ${what}`)
}

/** The chain goes on quickly until this has ended: it waits for blocks. */
export async function advanceWhile<Result>({ chain }: Sandbox, running: Promise<Result>): Promise<Result> {
  let ended = false
  const result = running.finally(() => {
    ended = true
  })
  await until('it has ended', () => {
    chain.advance(10)
    return ended
  })
  return result
}

/** Waits until the chain has made this many more slots. Paces a client that pays repeatedly. */
export async function untilSlotsPass({ chain }: Sandbox, count: number): Promise<void> {
  const end = chain.clock.slot + count
  await until(`${count} slots pass`, () => chain.clock.slot >= end)
}

/**
 * Waits until this many milliseconds have passed since `since` (a `performance.now()` value). Only for faults whose length
 * is the subject of the test. Everything else waits with `until`.
 */
export async function waitSince(since: number, milliseconds: number): Promise<void> {
  await sleep(Math.max(0, milliseconds - (performance.now() - since)))
}
