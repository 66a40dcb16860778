import { type Chapter, guide, heading, list, text } from '../blocks.js'

export function goingLive(base: string): Chapter {
  return guide(
    'going-live',
    'Going live',
    text('Go through it before strangers pay.'),
    heading('Keys and sites'),
    list(
      'The API key is in your server’s secrets and in no repository, page or log. A second key is at hand, so that one can be revoked at once.',
      'Every site the checkout lives on is on [the whitelist](#put-creators-domains), with its port if it has one. `*.example.com` covers subdomains, not `example.com` itself.',
      'Your pages are served over https: wallets refuse others.',
      'Every visitor gets a session of their own, opened when the checkout is shown.',
    ),
    heading('Your page'),
    list(
      `Its content security policy has \`frame-src ${base}\` and, for embed.js, \`script-src ${base}\`.`,
      'The iframe has a title that names the creator.',
      '`tip.expired` opens a new session; `tip.failed` shows its message and leaves the checkout open.',
      'Phantom warns about domains it has not seen before ("This domain is new"). Ask for a review with the form in its developer documentation, days before you start.',
    ),
    heading('Your server'),
    list(
      'Delivery follows [the events](#events), once for each `eventId`.',
      'Requests have a deadline of 20 seconds; repetitions have growing pauses and the same `Idempotency-Key`.',
      'It branches on `code` and logs `requestId`.',
      'It ignores fields it does not know.',
    ),
    heading('Money'),
    list(
      'You have sent yourself a small tip of each kind and seen it in the events and in the balance.',
      'You have withdrawn once: bank, account and name are right.',
      'Your identity is verified before you need more than 200,000 naira at once.',
    ),
  )
}
