import type { Knex } from 'knex'
import { refusedFor } from '../../../kernel/errors.js'
import { readSwitches, type SwitchName } from './switches.js'

/** What a process knows of the switches. */
export interface Switches {
  isStopped(name: SwitchName): boolean
  /** The database was restored, and nothing is sent until the providers' lists were compared. */
  isRestored(): boolean
}

/** `Retry-After` of what is paused. */
const pausedSeconds = 30

/** Throws `service_unavailable` while one of these is stopped. */
export function refuseWhileStopped(switches: Switches, names: readonly SwitchName[]): void {
  if (names.some((name) => switches.isStopped(name))) throw refusedFor('service_unavailable', pausedSeconds)
}

export interface SwitchWatch extends Switches {
  /** Reads the switches once. Rejects when the database does not answer. */
  read(): Promise<void>
  /** Reads now and then every second, until `stop`. A failed read leaves what was read before. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** A read, and a slow statement, end within the two seconds that a switch may take. */
const pauseMs = 1000

/**
 * Keeps the switches of a process. A read of its own every second costs a web process's requests no statement; a worker, which asks no
 * switch, reads them for whoever looks at its state. Only `payouts` is also checked, under a lock, by the statement that it stops.
 */
export function createSwitchWatch(
  db: Knex,
  onRead: (name: SwitchName, stopped: boolean) => void,
  onRestored: (restored: boolean) => void,
): SwitchWatch {
  let stopped: ReadonlySet<SwitchName> = new Set()
  let timer: NodeJS.Timeout | undefined
  let reading: Promise<void> | undefined
  let running = false
  let restored = false
  async function read(): Promise<void> {
    const rows = await readSwitches(db)
    stopped = new Set(rows.filter(({ stoppedAt }) => stoppedAt !== null).map(({ name }) => name))
    for (const { name } of rows) onRead(name, stopped.has(name))
    restored = rows.some(({ known }) => !known)
    onRestored(restored)
  }
  async function turn(): Promise<void> {
    reading = read().catch(() => undefined)
    await reading
    if (running) timer = setTimeout(turn, pauseMs)
  }
  return {
    isStopped: (name) => stopped.has(name),
    isRestored: () => restored,
    read,
    start() {
      running = true
      return turn()
    },
    async stop() {
      running = false
      clearTimeout(timer)
      await reading
    },
  }
}
