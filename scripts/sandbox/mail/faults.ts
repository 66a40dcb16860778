import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const delayMsMax = 120_000

/**
 * How the mail server misbehaves. `code`: the SMTP reply of refusals, 4yz or 5yz. Without it no mail is refused.
 * `delayMs`: the delay before the answer. `to`: only for this address. `at`: at the recipient command or after the content
 * (a mail that is only delayed after its content is accepted). `times`: for how many mails.
 */
export const mailFaultSchema = z.strictObject({
  code: z.int().min(400).max(599).optional(),
  delayMs: z.int().nonnegative().max(delayMsMax).optional(),
  to: z.string().optional(),
  at: z.enum(['recipient', 'content']).default('recipient'),
  times: z.int().positive().optional(),
})
export type MailFault = z.input<typeof mailFaultSchema>

/** The active fault. */
export class MailFaults {
  #fault: MailFault = {}
  #left = 0

  /** Replaces the active fault. */
  set(fault: MailFault): void {
    this.#fault = fault
    this.#left = fault.times ?? Number.POSITIVE_INFINITY
  }

  clear(): void {
    this.#left = 0
  }

  /** Returns the fault for this mail at this point, if any, and counts it. */
  take(to: string, at: 'recipient' | 'content'): MailFault {
    const only = this.#fault.to?.toLowerCase() ?? to.toLowerCase()
    if (this.#left <= 0 || (this.#fault.at ?? 'recipient') !== at || only !== to.toLowerCase()) return {}
    this.#left -= 1
    return this.#fault
  }
}

/** Waits for the fault's delay, then rejects with its SMTP reply and this text. Without a code it resolves. */
export async function applyFault({ delayMs = 0, code }: MailFault, text: string): Promise<void> {
  // The timer alone must not keep the process alive.
  if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
  if (code !== undefined) throw Object.assign(new Error(text), { responseCode: code })
}
