import { type Chapter, code, guide, heading, note, table, text } from '../blocks.js'

const usualStandIns = 'http://localhost:8899'

/** The stand-ins that this installation uses, else those of a local stack with the usual ports. */
export function standInsOf(providerUrl: string): string {
  const { hostname, port } = new URL(providerUrl)
  return hostname === '127.0.0.1' || hostname === 'localhost' ? `http://localhost:${port}` : usualStandIns
}

export function localTesting(standIns: string): Chapter {
  return {
    ...guide(
      'local-testing',
      'Local testing',
      text(
        '`npm run dev` in the service’s repository starts the whole product on one machine: databases, every process, and stand-ins for the chain, the bank, the mail server and the price feeds. It prints every address, and then `ready`.',
      ),
      text(
        'The chain is a real Solana runtime in a process: signatures, fees, token programs and failures are real, the money is not. These requests control the stand-ins:',
      ),
      table(
        [`Request to \`${standIns}\``, 'What happens'],
        [
          '`POST /dev/airdrop`',
          'Gives a wallet SOL or tokens: `wallet`, `token`, `amount` as text in display units.',
        ],
        [
          '`POST /dev/fiatpay/charges/<intentId>`',
          'Pays or fails a naira tip: `outcome` is `paid` or `failed`; `amountKobo` pays another amount. For a paid one: `disputed` or `reversed`.',
        ],
        [
          '`POST /dev/fiatpay/disputes/<intentId>`',
          'Ends a dispute: `outcome` is `won` or `lost`. One that nobody answers is lost after 16 hours.',
        ],
        [
          '`POST /dev/fiatpay/transfers/<reference>`',
          'Finishes a withdrawal: `outcome` is `success`, `failed` or `reversed`.',
        ],
        [
          '`POST /dev/fiatpay/refunds/<intentId>`',
          'Gives a refund an outcome: `processing`, `processed`, `failed` or `needs-attention`.',
        ],
        [
          '`POST /dev/fiatpay/mode`',
          'Sets how the bank behaves: `transfers` is `auto`, `manual`, `reject`, `timeout` and others; `webhooks` and `fees` are switched here too.',
        ],
        ['`POST /dev/prices`', 'Sets prices: mint and dollars.'],
        ['`POST /dev/rates`', 'Sets the exchange rate: `NGN`; 0 removes it.'],
        ['`POST /dev/domains`', 'Registers a .sol domain: `domain`, `owner`.'],
        ['`GET /dev/mail/view`', 'Shows every mail that was sent, one-time codes too.'],
      ),
      heading('Rare answers'),
      text(
        'The bank account `0000000000` does not exist, and `0000000001` is refused because of its name. A rate of 0 causes [rate_unavailable](#error-rate_unavailable). `npm run demo` runs tips and withdrawals against your stack and prints each step.',
      ),
      note('The stand-ins refuse to start with `NODE_ENV=production`.'),
    ),
    samples: [
      code(
        'sh',
        'Money for a test wallet',
        `curl -s ${standIns}/dev/airdrop -H 'Content-Type: application/json' \\`,
        `  -d '{"wallet":"<wallet>","token":"USDC","amount":"100"}'`,
      ),
      code(
        'sh',
        'A bank that waits for your requests',
        `curl -s ${standIns}/dev/fiatpay/mode -H 'Content-Type: application/json' \\`,
        `  -d '{"transfers":"manual"}'`,
      ),
    ],
  }
}
