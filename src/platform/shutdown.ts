import type { Log } from './log.js'

/** A process that has not ended after this time is ended, so that a deploy does not hang on one slow socket. */
const graceMs = 20_000

export interface ShutdownOptions {
  readonly log: Log
  /** Time that stopping needs beyond the usual. */
  readonly extraMs?: number
}

/**
 * Runs `stop` once, at SIGTERM or SIGINT. The process then ends by itself
 * when everything is released. An uncaught exception ends the process immediately: the state may be inconsistent, and
 * the rows in work become due again when their leases end.
 */
export function stopOnSignals(stop: () => Promise<void>, { log, extraMs = 0 }: ShutdownOptions): void {
  let stopping = false
  function begin(reason: string): void {
    if (stopping) return
    stopping = true
    log.info({ reason }, 'stopping')
    setTimeout(() => process.exit(1), graceMs + extraMs).unref()
    stop().then(
      () => log.info('stopped'),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        process.exitCode = 1
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => begin(signal))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      process.exit(1)
    })
}
