import type { Knex } from 'knex'
import { resolveCreator } from '../creators/resolve-creator.js'
import { iconPath } from '../http/pages/icon.js'
import { createIntent } from '../intents/create-intent.js'
import { presetsFor, type TipLimits, tipLimitsFor } from '../intents/quote.js'
import { DomainError } from '../kernel/errors.js'
import { isIntentId } from '../kernel/ids.js'
import { maxMessageLength } from '../kernel/text.js'
import { type Token, tokenByMint, usdc } from '../kernel/tokens.js'
import type { Origin } from '../kernel/trace-context.js'
import type { TokenPrices } from '../market/token-prices.js'
import { query } from '../platform/database/database.js'
import { findByPageHandle, type PageOwner } from '../public-page/handle.js'
import { actionPath, type PageContent, pageUrlOf, picturePath, readPageContent } from '../public-page/page.js'
import { renameAmount } from '../sdk/create-tip.js'
import type { Services } from '../services.js'
import { claimFromPayment, type SignedClaim } from '../tips/record/claim.js'
import {
  type ActionAnswer,
  type CompletedAnswer,
  type ExternalLinkAnswer,
  findToken,
  type LinkedAction,
  type SentInput,
  type TipInput,
  type TransactionAnswer,
} from './schemas.js'

/** The creator with this handle. Throws `creator_not_found`, for a frozen or closed account too. */
async function findTippable(db: Knex, handle: string): Promise<PageOwner> {
  const creator = await findByPageHandle(db, handle)
  if (creator === undefined) throw new DomainError('creator_not_found')
  return creator
}

/** What a wallet shows before it asks for a transaction. */
export async function describeTip(
  services: Pick<Services, 'db' | 'names' | 'config'>,
  wanted: string,
): Promise<ActionAnswer> {
  const owner = await findTippable(services.db, wanted)
  const { userId, name, handle } = owner
  const [limits, page] = await Promise.all([limitsOf(services, userId), readPageContent(services.db, userId)])
  return {
    type: 'action',
    icon: iconOf(services, owner, page),
    title: name,
    description: page.words ?? `Tip ${name} from any Solana wallet, or pay in naira.`,
    label: `Tip ${name}`,
    links: { actions: linkedActions(actionPath(handle), limits) },
  }
}

/** The creator's picture, which is WebP, or our icon. */
function iconOf(
  { config }: Pick<Services, 'config'>,
  { handle }: PageOwner,
  { pictureHash }: Pick<PageContent, 'pictureHash'>,
): string {
  return `${config.http.publicUrl}${picturePath(handle, pictureHash) ?? iconPath}`
}

function linkedActions(path: string, limits: TipLimits): LinkedAction[] {
  const presets = presetsFor(limits).map(
    (usd): LinkedAction => ({
      type: 'transaction',
      href: `${path}?amount=${usd}`,
      label: `Tip ${usd} USDC`,
    }),
  )
  return [
    ...presets,
    {
      type: 'transaction',
      href: `${path}?amount={amount}&message={message}`,
      label: 'Tip another amount',
      parameters: [
        {
          type: 'number',
          name: 'amount',
          label: 'Amount in USDC',
          required: true,
          min: limits.minUsd,
          max: limits.maxUsd,
        },
        {
          type: 'text',
          name: 'message',
          label: 'Message (optional)',
          required: false,
          min: 0,
          max: maxMessageLength,
        },
      ],
    },
    { type: 'external-link', href: `${path}/naira`, label: 'Pay in naira' },
  ]
}

async function limitsOf(
  services: Pick<Services, 'db' | 'names' | 'config'>,
  userId: string,
): Promise<TipLimits> {
  const { settings } = await resolveCreator(services, userId)
  return tipLimitsFor(services.config.tips, settings)
}

/**
 * Creates an intent for the wallet `account`. Throws `creator_not_found` and the errors of POST /payments/intent. A wallet that
 * read a bare address, as from a QR code, names no amount.
 */
export async function createTipTransaction(
  services: Parameters<typeof createIntent>[0],
  prices: TokenPrices,
  { handle, account, amount, token, message }: TipInput,
  origin: Origin,
): Promise<{ intentId: string; answer: TransactionAnswer }> {
  const { userId, name, ...creator } = await findTippable(services.db, handle)
  const paid = token === undefined ? usdc : (findToken(token) as Token)
  const amountUsd = amount === undefined ? await leastSuggested(services, userId) : Number(amount)
  const { intentId, transaction } = await createIntent(
    services,
    prices,
    { creatorId: userId, amountUsd, inputTokenMint: paid.mint, sourceWalletAddress: account, message },
    { origin },
  ).catch(renameAmount)
  const shown = paid.stable ? `${amountUsd} ${paid.symbol}` : `$${amountUsd} in ${paid.symbol}`
  const href = `${actionPath(creator.handle)}/sent?intent=${intentId}`
  const links = { next: { type: 'post', href } } as const
  return { intentId, answer: { type: 'transaction', transaction, message: `Tip ${name} ${shown}`, links } }
}

async function leastSuggested(
  services: Pick<Services, 'db' | 'names' | 'config'>,
  userId: string,
): Promise<number> {
  const limits = await limitsOf(services, userId)
  return presetsFor(limits)[0] ?? limits.minUsd
}

/** Where a creator takes naira. Throws `creator_not_found`. */
export async function linkToPage(
  { db, config }: Pick<Services, 'db' | 'config'>,
  wanted: string,
): Promise<ExternalLinkAnswer> {
  const { handle } = await findTippable(db, wanted)
  return { type: 'external-link', externalLink: pageUrlOf(config.http.publicUrl, handle) }
}

interface IntentRow {
  readonly payoutWallet: string
  readonly inputMint: string
  readonly inputRaw: string
}

/**
 * What the wallet's callback says, as the claim that POST /chain/tips/create would make of it, and what the wallet shows then.
 * Throws `creator_not_found`, and `payment_intent_not_found` for an intent of another creator.
 */
export async function claimFromCallback(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { handle, intent: intentId, account, signature }: SentInput,
  origin: Origin,
): Promise<{ claim: SignedClaim; answer: CompletedAnswer }> {
  const owner = await findTippable(db, handle)
  const { userId, name } = owner
  const [intent] = isIntentId(intentId) ? await readIntent(db, intentId, userId) : []
  if (intent === undefined) throw new DomainError('payment_intent_not_found')
  const page = await readPageContent(db, userId)
  const sent = `Your tip to ${name} is sent. It counts as soon as the chain has confirmed it.`
  const found = claimFromPayment({
    signature,
    creatorWallet: intent.payoutWallet,
    sender: account,
    units: BigInt(intent.inputRaw),
    tokenSymbol: (tokenByMint(intent.inputMint) as Token).symbol,
    intentId,
  })
  return {
    claim: { ...found, requestId: origin.requestId, traceId: origin.traceId },
    answer: {
      type: 'completed',
      icon: iconOf({ config }, owner, page),
      title: name,
      description: page.thanks === null ? sent : `${sent} ${page.thanks}`,
      label: 'Tip sent',
    },
  }
}

function readIntent(db: Knex, id: string, userId: string): Promise<IntentRow[]> {
  return query<IntentRow>(db, {
    name: 'actions.intent',
    text: /* sql */ `
      select i.payout_wallet as "payoutWallet", i.input_mint as "inputMint", i.input_raw::text as "inputRaw"
      from payment_intents i join wallets w on w.public_key = coalesce(i.creator_wallet, i.payout_wallet)
      where i.id = $1 and w.user_id = $2`,
    values: [id, userId],
  })
}
