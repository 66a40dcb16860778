import { availableParallelism } from 'node:os'
import { hash, type Options, verify } from '@node-rs/argon2'
import { characters } from '../../kernel/text.js'
import { createSemaphore } from '../../platform/semaphore.js'

/** In characters; a password is never trimmed. */
export const passwordLength = { least: 8, most: 256 } as const

/**
 * Argon2id (the library's default) with 19 MiB, 2 passes, 1 lane: the first choice of the OWASP Password Storage
 * Cheat Sheet that fits a small server. About 15 ms of one core.
 */
const parameters = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 } as const satisfies Options

/**
 * A hash of the same cost that no password has (its digest is all zeros). Verified in place of the one that does
 * not exist, so that the time of an answer does not tell whether the e-mail is known.
 */
const { memoryCost, timeCost, parallelism } = parameters
const decoy = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Callers that may wait for a core; on a machine with two, at 15 ms each, the last one waits three seconds. */
const waiting = 200

export interface Passwords {
  /** The hash to store. Throws Overloaded when too many are waiting. */
  hash(password: string): Promise<string>
  /** Whether the password has this hash. Costs the same without a hash, and with a password too long to be one. */
  matches(hash: string | undefined, password: string): Promise<boolean>
}

/**
 * Password hashing of one process: off the event loop, and on all cores but one, so that a flood of logins leaves
 * room for everything else.
 */
export function createPasswords(): Passwords {
  const limit = createSemaphore({ running: Math.max(1, availableParallelism() - 1), waiting })
  return {
    hash: (password) => limit(() => hash(password, parameters)),
    matches(stored, password) {
      const tooLong = characters(password) > passwordLength.most
      const candidate = tooLong ? '' : password
      return limit(() => verify(tooLong ? decoy : (stored ?? decoy), candidate))
    },
  }
}
