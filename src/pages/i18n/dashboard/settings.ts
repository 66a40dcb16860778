/** Texts of Settings. */
export const settingsWords = {
  settings: {
    title: 'Your tips',
    tokens: 'Tokens you take',
    tokensHint: 'The checkout preselects USDC if you take it; supporters can choose another one.',
    convert: 'Exchange everything into USDC',
    gasless: 'Send tips through an endpoint for bundles. Supporters still pay the network fee in SOL.',
    yield: 'Keep tips as staked SOL, which grows',
    yieldWarning:
      'Staked SOL rises and falls with SOL’s price and can’t be withdrawn to a bank from here. Tips become staked SOL instead of dollars.',
    fiat: 'How naira are paid',
    ways: { checkout: 'Page: card, USSD or bank', bank_transfer: 'Bank transfer to an account' },
    minTipUsd: 'Smallest tip (dollars)',
    maxTipUsd: 'Largest tip (dollars)',
    noLimit: 'No limit',
    hideUnpaid: 'In public lists, show the name and message of a naira tip only once it is paid',
    save: 'Save',
    saved: 'Saved',
    leave: 'Your changes are not saved. Leave without saving them?',
  },
  sol: {
    title: 'Your .sol domain',
    domain: 'Domain',
    hint: 'Your site and other programs can then use this name in place of your id.',
    sign: 'This domain belongs to another wallet. Sign this message with that wallet and paste the signature.',
    message: 'message',
    signature: 'Signature (base58)',
    link: 'Link',
    unlink: 'Unlink',
  },
  payoutWallet: {
    title: 'Your own wallet',
    wallet: 'Wallet address',
    use: (wallet: string) => `Use ${wallet}`,
    otherWallet: 'Or the address of a wallet that isn’t in this browser',
    hint: 'A Solana wallet that only you hold. Tips can go straight to it, and tokens can be taken out to it.',
    sign: 'Sign this message with that wallet and paste the signature. Signing moves nothing.',
    set: 'Add this wallet',
    tipsTo: 'Where new crypto tips go',
    destinations: {
      custody: 'To your balance here: USDC can be withdrawn to your bank',
      payout_wallet: 'Straight to this wallet',
    },
    effect:
      'Tips that go straight to this wallet are in your lists as usual, but can’t be withdrawn to a bank: they are yours already. Naira tips always go to your balance.',
    confirmAdd: (wallet: string) => `Your own wallet becomes ${wallet}. Is it you? Then confirm it.`,
    confirmTipsTo: {
      custody: 'New crypto tips go to your balance here. Is it you? Then confirm it.',
      payout_wallet: 'New crypto tips go straight to your own wallet. Is it you? Then confirm it.',
    },
    remove: 'Remove this wallet',
  },
  look: {
    title: 'Appearance',
    themes: { system: 'As my device', light: 'Light', dark: 'Dark' },
  },
} as const
