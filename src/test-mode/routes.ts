import { ownerOf, perOwner, requireOwner } from '../creators/auth.js'
import { providerReferenceOf } from '../fiat/intents/read-status.js'
import { type Route, route } from '../http/endpoint.js'
import { noStore } from '../http/security/response-headers.js'
import { inputError } from '../kernel/errors.js'
import { ProviderError } from '../kernel/provider-error.js'
import type { TestControls } from '../ports/test-controls.js'
import type { Services } from '../services.js'
import { findWithdrawal } from '../withdrawals/list-withdrawals.js'
import { airdropAnswer, airdropInput, doneAnswer, paymentInput, withdrawalInput } from './schemas.js'

/** What a creator can have the stand-ins of a test deployment do. app.ts guards these paths with the session or an API key. */
export function testRoutes(
  services: Pick<Services, 'config' | 'db' | 'transact'>,
  controls: TestControls,
): Route[] {
  const guards = [noStore, requireOwner(services)]
  return [
    route(
      {
        method: 'post',
        path: '/test/payments/:intentId',
        summary: 'Pay a naira tip of the own account, fail it, or dispute its payment',
        credential: 'session-or-key',
        limit: perOwner,
        input: paymentInput,
        invalid: 'invalid_outcome',
        output: doneAnswer,
        errors: [...refusals, 'invalid_amount', 'payment_intent_not_found'],
      },
      async ({ intentId, outcome, amountNgn }, ctx) => {
        const reference = await providerReferenceOf(services.db, ownerOf(ctx), intentId)
        await refusable(controls.endPayment(reference, outcome, amountNgn))
        return {}
      },
      guards,
    ),
    route(
      {
        method: 'post',
        path: '/test/withdrawals/:reference',
        summary: 'Give a withdrawal of the own account its outcome at the bank',
        credential: 'session-or-key',
        limit: perOwner,
        input: withdrawalInput,
        invalid: 'invalid_outcome',
        output: doneAnswer,
        errors: [...refusals, 'withdrawal_not_found'],
      },
      async ({ reference, outcome }, ctx) => {
        const withdrawal = await findWithdrawal(services, ownerOf(ctx), reference)
        await refusable(controls.endWithdrawal(withdrawal.reference, outcome))
        return {}
      },
      guards,
    ),
    route(
      {
        method: 'post',
        path: '/test/airdrop',
        summary: 'Give a wallet play money on the chain',
        credential: 'session-or-key',
        limit: { ...perOwner, name: 'airdrops' },
        input: airdropInput,
        invalid: 'invalid_wallet',
        output: airdropAnswer,
        errors: [...refusals, 'invalid_token', 'invalid_amount'],
      },
      async ({ wallet, token, amount }) => ({
        txSignature: await refusable(controls.airdrop(wallet, token, amount)),
      }),
      guards,
    ),
  ]
}

const refusals = ['unauthorized', 'invalid_api_key', 'account_frozen', 'test_refused'] as const

/** Answers what the stand-ins refuse with their reason. */
function refusable<Result>(control: Promise<Result>): Promise<Result> {
  return control.catch((error: unknown) => {
    if (error instanceof ProviderError && error.kind === 'rejected')
      throw inputError('test_refused', 'body', error.message)
    throw error
  })
}
