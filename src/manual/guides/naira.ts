import { type Chapter, code, guide, heading, list, steps, table, text } from '../blocks.js'

export function naira(base: string): Chapter {
  return {
    ...guide(
      'naira',
      'Naira in and out',
      heading('A tip in naira'),
      steps(
        'Show what it will cost: [GET /payments/fiat/rate](#get-payments-fiat-rate).',
        'Make an [intent](#post-payments-fiat-intent). Send the payer to `checkoutUrl`; if it is null, show `paymentInstructions`: bank, account number, name and the exact amount.',
        'Ask for the [status](#get-payments-fiat-status) every 5 to 10 seconds until it is `completed`, `failed` or `cancelled`.',
      ),
      table(
        ['State', 'What it means'],
        ['`requires_action`', 'Waiting for the payer. The intent is open for 30 minutes.'],
        ['`completed`', 'The money is there and credited. From any other state, too: late money counts.'],
        [
          '`failed`',
          'It could not be completed, or too little arrived; an operator returns it. Make a new intent.',
        ],
        ['`cancelled`', 'Nobody paid in time.'],
      ),
      heading('The sums'),
      text(
        'For 20 USD at 1,600 naira: the fee is 5 %, 1.00 USD; the creator is credited 19.00 USDC; the payer is charged 19.00 x 1,600 = 30,400 naira. `amountNgn` sets the charge itself; the credit is then what it is worth, and never more than `finalAmountUsd`. The rate is locked with the intent.',
      ),
      list(
        '`isAnonymous` withholds name and e-mail from the creator, everywhere.',
        '`payerEmail` gets a receipt. It makes no account.',
      ),
      heading('To a bank account'),
      steps(
        'Read the [balance](#get-creators-balance): `availableUSDC` can be withdrawn now.',
        'Offer [the banks](#get-creators-banks), and show the [holder’s name](#post-creators-bank-accounts-resolve) before money goes there.',
        '[Withdraw](#post-payouts-withdraw) with an `Idempotency-Key`.',
        'Follow it in [the history](#get-payouts-history) by its `reference`.',
      ),
      text(
        '25 USDC at 1,600 are 40,000 naira; the fee is 1 %, at least 50 naira; 39,600 reach the account. A withdrawal that fails costs nothing. Above 200,000 naira at once, or 500,000 in a day, it waits until your identity is verified.',
      ),
    ),
    beside: [
      code(
        'ts',
        'Wait for a naira tip',
        "const final = ['completed', 'failed', 'cancelled']",
        'let status = intent.status',
        'while (!final.includes(status)) {',
        '  await new Promise((done) => setTimeout(done, 5_000))',
        `  const answer = await fetch(\`${base}/payments/fiat/status?intentId=\${intent.intentId}\`)`,
        '  ;({ status } = await answer.json())',
        '}',
      ),
    ],
  }
}
