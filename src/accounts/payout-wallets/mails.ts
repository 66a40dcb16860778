import { type NoticeText, nothingToDo, type OwnerNotice } from '../notify-owner.js'

/** What the owner is told about the wallets of their own. */
type WalletEvent =
  | {
      readonly kind: 'payout-wallet-set' | 'tips-to-changed'
      readonly wallet: string
      /** New tips go to it. */
      readonly takesTips: boolean
    }
  | { readonly kind: 'payout-wallet-removed'; readonly wallet: string }
  | {
      readonly kind: 'take-out-signed'
      readonly wallet: string
      /** Such as `1.5 SOL`. */
      readonly amount: string
    }

/** The mail about an event. */
export function walletNotice(event: WalletEvent): OwnerNotice {
  return { kind: event.kind, describe: (site) => describeEvent(event, site) }
}

function describeEvent(event: WalletEvent, site: string): NoticeText {
  const facts = [['Wallet', event.wallet]] as const
  const common = { facts, advice: [nothingToDo], security: true }
  switch (event.kind) {
    case 'payout-wallet-set':
      return {
        ...common,
        subject: `A new payout wallet at ${site}`,
        lines: [
          `A wallet was made the payout wallet of your account at ${site}. ${event.takesTips ? 'New tips go to it, and tokens' : 'Tokens'} can be taken out to it.`,
        ],
      }
    case 'payout-wallet-removed':
      return {
        ...common,
        subject: `Your payout wallet at ${site} was removed`,
        lines: [`The payout wallet of your account at ${site} was removed. New tips go to your balance.`],
      }
    case 'take-out-signed':
      return {
        ...common,
        subject: `You took tokens out of ${site}`,
        lines: [`Tokens of your account at ${site} are on their way to your payout wallet.`],
        facts: [['Amount', event.amount], ...facts],
      }
    case 'tips-to-changed':
      return {
        ...common,
        subject: `Your new tips at ${site} go elsewhere`,
        lines: [
          event.takesTips
            ? `New crypto tips to your account at ${site} go straight to your payout wallet. They cannot be withdrawn as naira.`
            : `New crypto tips to your account at ${site} go to the wallet that ${site} keeps for you, and not to your payout wallet any more.`,
        ],
      }
  }
}
