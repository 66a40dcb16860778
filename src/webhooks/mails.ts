import { type AccountNotice, describeMoment, warning } from '../accounts/notify-owner.js'
import { type EmailContent, quoteDomainInMail, quoteInMail } from '../mail/layout.js'

/** An endpoint whose creator does not know yet what this mail says. */
export interface FailingEndpoint {
  readonly id: string
  readonly url: string
  readonly disabled: 'failing' | 'gone' | null
  readonly failingSince: Date | null
  readonly lastError: string | null
}

const because = {
  gone: 'It answered 410, which says that it wants no more.',
  failing: 'Nothing could be delivered to it for five days.',
} as const

/** What a creator is told about a webhook that fails, or was disabled. */
export function failingMail(
  { url, disabled, failingSince, lastError }: FailingEndpoint,
  publicUrl: string,
): EmailContent {
  const site = new URL(publicUrl).host
  const facts: [string, string][] = [
    ['Webhook', quoteDomainInMail(new URL(url).host)],
    ...(failingSince === null ? [] : [['Fails since', describeMoment(failingSince)] as [string, string]]),
    ...(lastError === null ? [] : [['Last answer', quoteInMail(lastError)] as [string, string]]),
  ]
  const settings = { link: `${publicUrl}/dashboard/settings`, label: 'Open the settings' }
  if (disabled === null)
    return {
      subject: `A webhook of your account at ${site} fails`,
      blocks: [
        `Your server has not taken any event from ${site} for 24 hours. We go on trying. If that lasts for five days, we stop sending to it; your events are kept.`,
        { facts },
        settings,
      ],
    }
  return {
    subject: `A webhook of your account at ${site} is switched off`,
    blocks: [
      `We send no more events to this webhook. ${because[disabled]} Your events are kept: when you switch it on again, you can have everything sent that happened meanwhile.`,
      { facts },
      settings,
    ],
  }
}

/** What the owner is told when events begin to go to this server. */
export function webhookNotice(kind: 'webhook-created' | 'webhook-moved', url: string): AccountNotice {
  return warning(kind, (site, trusted) => ({
    subject: `${kind === 'webhook-created' ? 'A new webhook' : 'A webhook was changed'} at ${site}`,
    lines: [
      `The events of your account at ${site}, such as tips and withdrawals, are now sent to another server. It cannot move money.`,
    ],
    facts: trusted ? [['Server', quoteDomainInMail(url)]] : [],
  }))
}
