import { z } from 'zod'
import { type Route, route } from '../../http/endpoint.js'
import { checkedText, requiredText } from '../../http/input.js'
import { readCaller } from '../../http/security/caller.js'
import { isAddress } from '../../kernel/base58.js'
import type { ErrorCode } from '../../kernel/errors.js'
import type { Services } from '../../services.js'
import type { PayoutWallet } from '../models.js'
import { done, nothing, ownRead } from '../schemas.js'
import { signedIn, whileOpen } from '../sessions/auth.js'
import { stepUpFields } from '../step-up/step-up.js'
import { readPayoutWallet } from './payout-wallet.js'
import { createWalletChallenge, provePayoutWallet, unsetPayoutWallet } from './prove-wallet.js'

const success = z.literal(true)
const wallet = checkedText('invalid_wallet', 'invalid_wallet', isAddress)

const walletChallengeInput = z.object({ wallet })
const walletChallengeAnswer = z.object({ success, message: z.string() })

const provePayoutWalletInput = z.object({
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
type PresentedPayoutWallet = z.output<typeof payoutWallet>
export const payoutWalletAnswer = z.object({ success, payoutWallet: payoutWallet.nullable() })

const ownerErrors: readonly ErrorCode[] = ['unauthorized', 'forbidden', 'account_frozen']

/** `/creators/payout-wallet`. app.ts applies the session guard of these paths before routing. */
export function payoutWalletRoutes(
  services: Pick<Services, 'chain' | 'config' | 'db' | 'transact'>,
): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(
      {
        method: 'post',
        path: '/creators/payout-wallet/challenge',
        summary: 'The message that a wallet signs to become the payout wallet',
        credential: 'session',
        limit: 'intents',
        input: walletChallengeInput,
        invalid: 'invalid_wallet',
        output: walletChallengeAnswer,
        errors: ['service_unavailable', ...ownerErrors],
      },
      async ({ wallet }, ctx) => ({
        message: await createWalletChallenge(services, signedIn(ctx).account.id, wallet),
      }),
    ),
    route(
      {
        method: 'put',
        path: '/creators/payout-wallet',
        summary: 'Make a wallet of your own the payout wallet',
        credential: 'session',
        limit: 'intents',
        input: provePayoutWalletInput,
        invalid: 'invalid_wallet',
        output: payoutWalletAnswer,
        errors: [
          'invalid_wallet_signature',
          'payout_wallet_in_use',
          'step_up_required',
          'invalid_code',
          'account_locked',
          'service_unavailable',
          ...ownerErrors,
        ],
      },
      async (proof, ctx) => {
        const owner = signedIn(ctx)
        const caller = readCaller(ctx, publicUrl)
        const stored = await provePayoutWallet(whileOpen(services, owner), owner.account.id, proof, caller)
        return { payoutWallet: present(stored) }
      },
    ),
    route(
      {
        ...ownRead,
        path: '/creators/payout-wallet',
        summary: 'The own payout wallet',
        output: payoutWalletAnswer,
      },
      async (_, ctx) => {
        const stored = await readPayoutWallet(services.db, signedIn(ctx).account.id)
        return { payoutWallet: stored === undefined ? null : present(stored) }
      },
    ),
    route(
      {
        method: 'delete',
        path: '/creators/payout-wallet',
        summary: 'Remove the payout wallet: new tips go to the custody wallet',
        credential: 'session',
        limit: 'intents',
        input: nothing,
        invalid: 'unauthorized',
        output: done,
        errors: ['forbidden', 'account_frozen'],
      },
      async (_, ctx) => {
        const owner = signedIn(ctx)
        await unsetPayoutWallet(whileOpen(services, owner), owner.account.id, readCaller(ctx, publicUrl))
      },
    ),
  ]
}

function present({ wallet, provenAt, takesTips }: PayoutWallet): PresentedPayoutWallet {
  return { wallet, provenAt: provenAt.toISOString(), takesTips }
}
