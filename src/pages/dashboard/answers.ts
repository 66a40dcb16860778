import type { z } from 'zod'
import type { passkeysAnswer } from '../../accounts/factors/schemas.js'
import type { payoutWalletAnswer } from '../../accounts/payout-wallets/routes.js'
import type { meAnswer, securityAnswer } from '../../accounts/schemas.js'
import type { sessionsAnswer } from '../../accounts/session-routes.js'
import type { keysAnswer, newKeyAnswer, profileAnswer } from '../../creators/schemas.js'
import type { eventStreamOutput, eventsOutput } from '../../events/schemas.js'
import type { refundsAnswer } from '../../fiat/refunds/schemas.js'
import type { fiatRateAnswer } from '../../fiat/schemas.js'
import type { balanceAnswer } from '../../ledger/schemas.js'
import type { judgedTipsAnswer, overlayAnswer } from '../../overlay/schemas.js'
import type { exportAnswer } from '../../privacy/schemas.js'
import type { pageAnswer } from '../../public-page/schemas.js'
import type { creatorTipsAnswer, dailyAnswer, tokenBalancesAnswer } from '../../tips/read/creator-schemas.js'
import type { takeableAnswer, transferAnswer, transfersAnswer } from '../../treasury/take-outs/schemas.js'
import type { deliveriesAnswer, endpointsAnswer, secretAnswer } from '../../webhooks/schemas.js'
import type {
  bankAccountsAnswer,
  banksAnswer,
  historyAnswer,
  payeesAnswer,
  withdrawAnswer,
} from '../../withdrawals/schemas.js'
import type { yearlyStatementAnswer } from '../../withdrawals/yearly-statement.js'

// The API's answers, as the service's own schemas describe them, and what is in them.

export const tokens = ['SOL', 'USDC', 'USDT', 'BONK', 'JitoSOL'] as const

export type Me = z.output<typeof meAnswer>['user']
export type Security = z.output<typeof securityAnswer>
export type Sessions = z.output<typeof sessionsAnswer>
export type Passkeys = z.output<typeof passkeysAnswer>
export type DataExport = z.output<typeof exportAnswer>
export type PayoutWallet = z.output<typeof payoutWalletAnswer>

export type Profile = z.output<typeof profileAnswer>
export type Creator = Profile['creator']
/** Where tips go is chosen apart from the other settings, and takes a step-up. */
export type Settings = Omit<Creator['settings'], 'tipsTo'>
export type OwnPage = z.output<typeof pageAnswer>
export type ApiKeys = z.output<typeof keysAnswer>
export type ApiKey = ApiKeys['apiKeys'][number]
export type NewApiKey = z.output<typeof newKeyAnswer>

export type OverlayAnswer = z.output<typeof overlayAnswer>
export type Overlay = OverlayAnswer['overlay']
export type OverlaySettings = Overlay['settings']
export type JudgedTips = z.output<typeof judgedTipsAnswer>
export type JudgedTip = JudgedTips['latest'][number]

export type Webhooks = z.output<typeof endpointsAnswer>
export type Webhook = Webhooks['webhooks'][number]
export type WebhookSecret = z.output<typeof secretAnswer>
export type DeliveriesPage = z.output<typeof deliveriesAnswer>
export type Delivery = DeliveriesPage['deliveries'][number]
export type EventsPage = z.output<typeof eventsOutput>
export type LoggedEvent = EventsPage['events'][number]
/** What the stream of events sends: its beginning, or an event. */
export type StreamedEvent = z.output<typeof eventStreamOutput>

/** In USDC. What is absent is nothing. */
export type Balance = z.output<typeof balanceAnswer>
export type TokenBalances = z.output<typeof tokenBalancesAnswer>
/** Naira for one dollar. */
export type Rate = z.output<typeof fiatRateAnswer>

export type TipsPage = z.output<typeof creatorTipsAnswer>
export type ListedTip = TipsPage['tips'][number]
export type Days = z.output<typeof dailyAnswer>
export type Refunds = z.output<typeof refundsAnswer>
export type Refund = Refunds['refunds'][number]

export type PayoutsPage = z.output<typeof historyAnswer>
export type Payout = PayoutsPage['payouts'][number]
/** What a withdrawal waits for before it is sent. */
export type HeldFor = NonNullable<Payout['heldFor']>
export type WithdrawalAnswer = Pick<z.output<typeof withdrawAnswer>, 'reference'>
export type YearlyStatement = z.output<typeof yearlyStatementAnswer>
export type Payees = z.output<typeof payeesAnswer>
export type Banks = z.output<typeof banksAnswer>
export type Bank = Banks['banks'][number]
export type BankAccounts = z.output<typeof bankAccountsAnswer>
/** A bank account of an earlier withdrawal, by whose reference it is named. */
export type UsedBankAccount = BankAccounts['bankAccounts'][number]

export type TransfersPage = z.output<typeof transfersAnswer>
export type TransferAnswer = z.output<typeof transferAnswer>
/** A take-out. */
export type Transfer = TransferAnswer['transfer']
export type Takeable = z.output<typeof takeableAnswer>
