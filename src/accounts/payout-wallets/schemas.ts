import { z } from 'zod'
import { checkedText, requiredText } from '../../http/input.js'
import { isAddress } from '../../kernel/base58.js'
import { stepUpFields } from '../step-up/step-up.js'

const success = z.literal(true)
const wallet = checkedText('invalid_wallet', 'invalid_wallet', isAddress)

export const walletChallengeInput = z.object({ wallet })
export const walletChallengeAnswer = z.object({ success, message: z.string() })

export const provePayoutWalletInput = z.object({
  wallet,
  signature: requiredText('invalid_wallet_signature').meta({
    description: 'Base58 signature of exactly the message of the challenge by this wallet',
  }),
  ...stepUpFields,
})

const payoutWallet = z.object({
  wallet: z.string(),
  provenAt: z.iso.datetime(),
  takesTips: z.boolean().meta({ description: 'New tips go to it: `settings.tipsTo` is `payout_wallet`' }),
})
export type PresentedPayoutWallet = z.output<typeof payoutWallet>
export const payoutWalletAnswer = z.object({ success, payoutWallet: payoutWallet.nullable() })
