import { type Chapter, guide, heading, list, text } from '../blocks.js'

export function goingLive(base: string): Chapter {
  return guide(
    'going-live',
    'Going live',
    text('Check this list before real supporters pay.'),
    heading('Keys and sites'),
    list(
      'The API key is among your server’s secrets, and in no repository, page or log. You have a second key, so that you can revoke the first one immediately.',
      'Every site that shows the checkout is on [the whitelist](#put-creators-domains), with its port if it has one. `*.example.com` covers subdomains, not `example.com` itself.',
      'Your pages are served over https, because wallets refuse http.',
      'Every visitor gets their own session, opened when the checkout is shown.',
    ),
    heading('Your page'),
    list(
      `Its content security policy has \`frame-src ${base}\` and, for embed.js, \`script-src ${base}\`.`,
      'The iframe has a title that names the creator.',
      '`tip.expired` opens a new session; `tip.failed` shows its message and leaves the checkout open.',
      'Phantom warns about domains that are new to it ("This domain is new"). Request a review with the form in its developer documentation some days before you start.',
    ),
    heading('Your server'),
    list(
      'It delivers on [events](#events), once for each `eventId`.',
      'Its requests have a timeout of 20 seconds. It repeats them with growing pauses and the same `Idempotency-Key`.',
      'It branches on `code` and logs `requestId`.',
      'It ignores fields it does not know.',
    ),
    heading('Money'),
    list(
      'You have sent yourself a small tip of each kind and seen it in the events and in the balance.',
      'You have made one withdrawal: bank, account and name are correct.',
      'Your identity is verified before you withdraw more than 200,000 naira at a time.',
      'You know whether the service keeps card tips back: `pendingUSDC` of the balance, and `availableAt` of each line.',
    ),
    heading('Running the service yourself'),
    text('The guards against stolen cards are off until you set them. Before strangers can pay by card:'),
    list(
      '`CARD_RESERVE_DAYS=14`: a stolen card is often reported within two weeks, and its money is then still here.',
      '`IDENTITY_YOUNG_NGN=50000`: thieves open new accounts; a real creator’s first tips stay below it.',
      '`IDENTITY_ACCOUNT_DAILY_NGN=500000`, `IDENTITY_ACCOUNT_MONTHLY_NGN=2000000`, `IDENTITY_ACCOUNT_TOTAL_NGN=5000000`: several accounts that share a bank account get no more than one.',
      '`IDENTITY_NAME_DAILY_NGN=1000000`, `IDENTITY_NAME_MONTHLY_NGN=5000000`: the same for one name at several banks, higher because people share names.',
      '`PAYOUT_CREATOR_HOURLY_NGN=500000`, `PAYOUT_CREATOR_DAILY_NGN=2000000`: what one account can lose before a person looks.',
      '`PAYOUT_HOURLY_NGN` at four times the busiest hour and `PAYOUT_DAILY_NGN` at twice the busiest day: what all together can lose.',
      'Somebody knows `npm run ops -- payouts pause` and has tried it.',
    ),
  )
}
