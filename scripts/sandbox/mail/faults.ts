import { setTimeout as delay } from 'node:timers/promises'

/**
 * How the mail server misbehaves. `code`: the SMTP reply of refusals, 4yz or 5yz. Without it no mail is refused.
 * `delayMs`: the delay before the answer. `to`: only for this address. `at`: at the recipient command, or after the content
 * (a mail that is only delayed after its content is accepted). `times`: for how many mails.
 */
export interface MailFault {
  readonly code?: number
  readonly delayMs?: number
  readonly to?: string
  readonly at?: 'recipient' | 'content'
  readonly times?: number
}

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
