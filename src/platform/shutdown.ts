import type { Log } from './log.js'

/** After this long a process that will not end by itself is ended: a deploy must not hang on one slow socket. */
const graceMs = 20_000

export interface ShutdownOptions {
  readonly log: Log
  /** True when the parent holds our stdin only to say, by closing it, that it is gone. */
  readonly endWithStdin: boolean
}

/**
 * Runs `stop` once, at SIGTERM or SIGINT (or the end of stdin where that is agreed), and lets the process end by
 * itself when everything is released. An exception nobody caught ends the process at once: half a state is
 * worse than a restart, and every row in work comes back by its lease.
 */
export function stopOnSignals(stop: () => Promise<void>, { log, endWithStdin }: ShutdownOptions): void {
  let stopping = false
  function begin(reason: string): void {
    if (stopping) return
    stopping = true
    log.info({ reason }, 'stopping')
    setTimeout(() => process.exit(1), graceMs).unref()
    stop().then(
      () => {
        process.stdin.destroy()
        log.info('stopped')
      },
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        process.exitCode = 1
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => begin(signal))
  if (endWithStdin)
    process.stdin
      .on('end', () => begin('end of stdin'))
      .on('error', () => begin('end of stdin'))
      .resume()
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      process.exit(1)
    })
}
