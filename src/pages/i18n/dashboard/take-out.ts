export const takeOutWords = {
  takeOut: {
    title: 'What do you take out?',
    needsWallet:
      'Tokens are taken out to a wallet that only you hold. Add it first; then choose here what goes there.',
    nothing: 'There is nothing to take out yet. Crypto tips can be, about 15 seconds after they arrived.',
    token: 'Token',
    amount: (symbol: string) => `Amount in ${symbol}`,
    amountProblem: (problem: string) => `This amount ${problem}.`,
    noAmount: 'Enter an amount, such as 0.5 or 1200.',
    lead: 'Your own wallet signs it and pays the network’s fee in SOL. We take no fee. Nothing moves before it has signed.',
    confirm: (amount: string) => `Take out ${amount}? Is it you? Then confirm it. It goes to`,
    lost: 'The answer got lost. If the take-out was prepared, it is in the list: open it there. Otherwise start again; nothing has moved.',
    what: 'You take out',
    to: 'To your wallet',
    yours: 'Check it: what is sent there can’t be called back.',
    fee: 'Fee',
    feeOf: (sol: string) => `${sol}, which this wallet pays`,
    feeUnknown: 'Your wallet shows it',
    opening: (sol: string, symbol: string) => `and ${sol} once, because it has no account for ${symbol} yet`,
    timeLeft: 'Time to sign',
    seconds: (seconds: number) => `${seconds} s`,
    signLead:
      'Your wallet shows you the same: these tokens arrive, and the fee leaves. If it shows anything else, don’t sign.',
    signWith: (wallet: string) => `Sign with ${wallet}`,
    signing: 'Confirm it in your wallet. Then wait here for some seconds.',
    searching: 'Looking for wallets in this browser…',
    noWallet: 'This browser has no wallet that can sign.',
    noWalletMore:
      'Open this page in the browser that has your wallet: on a phone that is the browser inside the wallet’s app.',
    noEndpoint:
      'This page can’t reach the network. Copy the complete transaction and submit it with another tool within a minute.',
    complete: 'complete transaction',
    again: 'Prepare it again',
    another: 'Take out something else',
    list: 'Take-outs',
    toShort: (address: string) => `to ${address}`,
    heads: {
      sign: (amount: string) => `Sign for ${amount}`,
      unsigned: (amount: string) => `${amount}: not signed in time`,
      sending: (amount: string) => `Sending ${amount}`,
      landed: (amount: string) => `${amount} arrived`,
      late: (amount: string) => `${amount}: not taken by the network`,
      final: (amount: string) => `${amount} taken out`,
      failed: (amount: string) => `${amount} not taken out`,
      returned: (amount: string) => `${amount} not taken out`,
    },
    more: {
      unsigned:
        'A prepared take-out is valid for a minute, and it was not signed in that time. Nothing has moved, and nothing is held.',
      sending: 'It is signed, and this page sends it to the network. Keep the page open for some seconds.',
      landed: 'It is in your wallet. In about 15 seconds it is final.',
      late: 'It was signed, but the network hasn’t taken it in time. It may still be found there. Until that is certain it stays reserved; then it is yours again here. You needn’t do anything.',
      final: 'It is in your wallet, for good.',
      failed:
        'The network refused it, and the fee is spent. The tokens haven’t left and are yours here as before.',
      returned: 'The network never took it. Nothing has left, and everything is as before.',
    },
  },
  straightToWallet:
    'New crypto tips go straight to your own wallet. They are yours already: they aren’t in this balance and can’t be withdrawn as naira.',
} as const
