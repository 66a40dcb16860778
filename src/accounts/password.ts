import { availableParallelism } from 'node:os'
import { hash, type Options, verify } from '@node-rs/argon2'
import { countCharacters } from '../kernel/text.js'
import { createSemaphore } from '../platform/semaphore.js'

/** In characters. A password is not trimmed. */
export const passwordLength = { least: 8, most: 256 } as const

/**
 * Argon2id (the library's default) with 19 MiB, 2 passes and parallelism 1, from the OWASP Password Storage Cheat
 * Sheet. About 15 ms on one core.
 */
const parameters = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 } as const satisfies Options

/**
 * A hash of the same cost that no password matches (its digest is all zeros). It is verified when there is no account,
 * so that the response time does not reveal whether the e-mail is known.
 */
const { memoryCost, timeCost, parallelism } = parameters
const decoy = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Callers that may wait for a core. On a machine with two cores, at 15 ms each, the last one waits three seconds. */
const maxWaiting = 200

export interface Passwords {
  /** Returns the hash to store. Throws Overloaded when too many callers wait. */
  hash(password: string): Promise<string>
  /** Whether the password has this hash; null: it is void. Takes the same time without a hash and for a password that is too long. */
  matches(hash: string | null | undefined, password: string): Promise<boolean>
}

/** Password hashing for the callers of one client address. Addresses take turns, so that one cannot keep others waiting. */
export type PasswordsFor = (address: string) => Passwords

/** Password hashing of one process, off the event loop. One core stays free for other work during a login flood. */
export function createPasswords(): PasswordsFor {
  const limit = createSemaphore({ concurrency: Math.max(1, availableParallelism() - 1), maxWaiting })
  return (address) => ({
    hash: (password) => limit(() => hash(password, parameters), address),
    matches(stored, password) {
      const tooLong = countCharacters(password) > passwordLength.most
      const candidate = tooLong ? '' : password
      return limit(() => verify(tooLong ? decoy : (stored ?? decoy), candidate), address)
    },
  })
}
