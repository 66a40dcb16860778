import type { Sandbox } from '../../scripts/sandbox/server.js'
import { until } from './until.js'

/** Waits until the chain has made so many slots more: the pace of a client that pays again and again. */
export async function slotsPass({ chain }: Sandbox, count: number): Promise<void> {
  const end = chain.clock.slot + count
  await until(`${count} slots pass`, () => chain.clock.slot >= end)
}
