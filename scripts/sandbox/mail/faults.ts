import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const delayMsMax = 120_000

/**
 * How the mail server misbehaves. `code`: the SMTP reply of its refusals, 4yz or 5yz; without it nothing is refused.
 * `delayMs`: how long it takes to answer. `to`: only for this address. `at`: when the recipient is named, or when the
 * content has arrived (a mail that is only delayed there has been taken). `times`: for how many mails.
 */
export const mailFaultSchema = z.strictObject({
  code: z.int().min(400).max(599).optional(),
  delayMs: z.int().nonnegative().max(delayMsMax).optional(),
  to: z.string().optional(),
  at: z.enum(['recipient', 'content']).default('recipient'),
  times: z.int().positive().optional(),
})
export type MailFault = z.input<typeof mailFaultSchema>

/** The fault in force. */
export class MailFaults {
  #fault: MailFault = {}
  #left = 0

  /** Replaces what was in force. */
  set(fault: MailFault): void {
    this.#fault = fault
    this.#left = fault.times ?? Number.POSITIVE_INFINITY
  }

  clear(): void {
    this.#left = 0
  }

  /** The fault this mail meets at this point, if any; counts it. */
  take(to: string, at: 'recipient' | 'content'): MailFault {
    const only = this.#fault.to?.toLowerCase() ?? to.toLowerCase()
    if (this.#left <= 0 || (this.#fault.at ?? 'recipient') !== at || only !== to.toLowerCase()) return {}
    this.#left -= 1
    return this.#fault
  }
}

/** Suffers a fault: resolves, late if so wanted, or rejects with the SMTP reply and these words. */
export async function suffer({ delayMs = 0, code }: MailFault, words: string): Promise<void> {
  // Nobody waits for a server that is being closed.
  if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
  if (code !== undefined) throw Object.assign(new Error(words), { responseCode: code })
}
