import type { Drain } from '../src/platform/drain-loop.js'

/** Sends e-mails. Nothing of this release writes one yet, so there is nothing to take. */
export function mailer(): Drain {
  return async () => ({ taken: 0 })
}
