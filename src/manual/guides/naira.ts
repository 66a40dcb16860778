import { type Chapter, code, guide, heading, list, steps, table, text } from '../blocks.js'

export function naira(base: string): Chapter {
  return {
    ...guide(
      'naira',
      'Naira in and out',
      heading('A tip in naira'),
      steps(
        'Show the price: [GET /payments/fiat/rate](#get-payments-fiat-rate).',
        'Make an [intent](#post-payments-fiat-intent). Send the payer to `checkoutUrl`; if it is null, show `paymentInstructions`: bank, account number, name and the exact amount.',
        'Poll the [status](#get-payments-fiat-status) every 5 to 10 seconds until it is `completed`, `failed` or `cancelled`.',
      ),
      table(
        ['State', 'What it means'],
        ['`requires_action`', 'Waiting for the payer. The intent is open for 30 minutes.'],
        [
          '`completed`',
          'The money arrived and was credited. Every other state can still become `completed`, because late money counts.',
        ],
        [
          '`failed`',
          'The payment failed, or too little money arrived; an operator returns it. Make a new intent.',
        ],
        ['`cancelled`', 'It was not paid in time.'],
      ),
      heading('The sums'),
      text(
        'For 20 USD at 1,600 naira: the fee is 5 %, 1.00 USD; the creator is credited 19.00 USDC; the payer is charged 19.00 x 1,600 = 30,400 naira. `amountNgn` sets another charge; the creator is then credited its value, and of what exceeds `finalAmountUsd` the platform takes 5 %. The rate is fixed when the intent is made; if it is more than 1 % higher when the money arrives, the higher one counts, which credits less. A payment that is short by at most 1 % completes the tip and credits what arrived.',
      ),
      list(
        'With `isAnonymous` the creator never sees the name or the e-mail.',
        '`payerEmail` gets a receipt. It does not create an account.',
      ),
      heading('To a bank account'),
      steps(
        'Read the [balance](#get-creators-balance): `availableUSDC` can be withdrawn now.',
        'Offer [the banks](#get-creators-banks), and show the [holder’s name](#post-creators-bank-accounts-resolve) before any money is sent.',
        '[Withdraw](#post-payouts-withdraw) with an `Idempotency-Key`.',
        'Follow it in [the history](#get-payouts-history) by its `reference`.',
      ),
      text(
        '25 USDC at 1,600 are 40,000 naira; the fee is 1 %, at least 50 naira; 39,600 reach the account. A failed withdrawal costs nothing. A withdrawal above 200,000 naira, or above 500,000 naira in a day, waits until your identity is verified. One to another bank account than before waits until you enter the code that is mailed to you.',
      ),
    ),
    samples: [
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
