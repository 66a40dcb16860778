import { setTimeout as sleep } from 'node:timers/promises'
import type { Scene } from '../scene.js'
import type { Scrape } from '../scrape.js'

/** Something that goes wrong, and the alerts that it has to fire. No other may. */
export interface Cause {
  readonly name: string
  readonly fires: readonly string[]
  /** What may fire too: it depends on who looks when. */
  readonly mayFire?: readonly string[]
  /** It goes on: what it counts is counted again and again. */
  readonly lasts?: boolean
  /** What has to be there before. What this leads to is not its doing. */
  readonly prepare?: (scene: Scene) => Promise<void>
  /** Makes it, and returns how to put it right. */
  readonly make: (scene: Scene) => Promise<() => unknown>
  /** Whether the metrics show it. Otherwise each of its alerts was counted. */
  readonly seen?: (now: Scrape, before: Scrape) => boolean
}

const pauseMs = 100

/** Does something again and again until the returned function is called. */
export function again(act: () => Promise<unknown>): () => Promise<void> {
  let ended = false
  const running = (async () => {
    for (; !ended; await sleep(pauseMs)) await act().catch(() => undefined)
  })()
  return async () => {
    ended = true
    await running
  }
}

/** PostgreSQL refuses an event, such as `insert on tips`. Returns how to put it right. */
export async function refuseRows(
  { stage: { db } }: Scene,
  event: string,
  when = 'true',
): Promise<() => Promise<unknown>> {
  await db.raw(`create function refuse_row() returns trigger language plpgsql as $$
    begin raise exception 'no space left'; end $$`)
  await db.raw(
    `create trigger refuse_row before ${event} for each row when (${when}) execute function refuse_row()`,
  )
  return async () => db.raw('drop function refuse_row() cascade')
}
