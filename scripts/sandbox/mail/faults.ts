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

/** Whether a fault is about a mail to this address at this point. */
export function isAbout(fault: MailFault, to: string, at: 'recipient' | 'content'): boolean {
  return (fault.at ?? 'recipient') === at && (fault.to ?? to).toLowerCase() === to.toLowerCase()
}

/** Waits for the fault's delay, then rejects with its SMTP reply and this text. Without a code it resolves. */
export async function applyFault(fault: MailFault | undefined, text: string): Promise<void> {
  const { delayMs = 0, code } = fault ?? {}
  // The timer alone must not keep the process alive.
  if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
  if (code !== undefined) throw Object.assign(new Error(text), { responseCode: code })
}
