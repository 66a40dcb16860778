import { z } from 'zod'
import { checkedText, requiredText } from '../http/input.js'
import { intentMessage } from '../intents/schemas.js'
import { isAddress, isSignature } from '../kernel/base58.js'
import { type Token, tokenByMint, tokenBySymbol } from '../kernel/tokens.js'

const success = z.literal(true)
/** A plain decimal, since a query has no numbers. The operation checks the limits. */
const decimal = /^\d{1,7}(\.\d{1,6})?$/

export function findToken(symbolOrMint: string): Token | undefined {
  return tokenBySymbol(symbolOrMint) ?? tokenByMint(symbolOrMint)
}

/** GET /actions.json. */
export const rulesOutput = z.object({
  success,
  rules: z.array(
    z.object({
      pathPattern: z.string().meta({ description: 'A page of this service' }),
      apiPath: z
        .string()
        .meta({ description: 'Where its Action is; `*` stands for the same as in the page' }),
    }),
  ),
})

/** GET /actions/tip/:handle, and the link to the public page. */
export const handleInput = z.object({ handle: z.string() })

const parameter = z.object({
  type: z.enum(['number', 'text']),
  name: z.enum(['amount', 'message']).meta({ description: 'Its value replaces `{name}` in `href`' }),
  label: z.string().meta({ description: 'What to enter' }),
  required: z.boolean().meta({ description: 'Whether it must be entered' }),
  min: z.number().meta({ description: 'The smallest value, or the fewest characters' }),
  max: z.number().meta({ description: 'The largest value, or the most characters' }),
})

const linkedAction = z.object({
  type: z.enum(['transaction', 'external-link']),
  href: z.string().meta({ description: 'To POST to' }),
  label: z.string().meta({ description: 'Of the button' }),
  parameters: z.array(parameter).exactOptional(),
})
export type LinkedAction = z.output<typeof linkedAction>

const shown = z.object({
  success,
  icon: z.string().meta({ description: 'Absolute address of an SVG, PNG or WebP' }),
  title: z.string().meta({ description: "The creator's name" }),
  description: z.string().meta({ description: "The creator's words, or ours" }),
  label: z.string().meta({ description: 'Of the button, or of what was done' }),
})

/** GET /actions/tip/:handle: an Action, and by `label` and `icon` a Solana Pay transaction request. */
export const actionOutput = shown.extend({
  type: z.literal('action'),
  links: z.object({ actions: z.array(linkedAction) }),
})
export type ActionAnswer = Omit<z.output<typeof actionOutput>, 'success'>

/** POST /actions/tip/:handle. */
export const tipInput = z.object({
  handle: z.string(),
  account: checkedText('invalid_account', 'invalid_account', isAddress).meta({
    description: 'The wallet that will pay',
  }),
  amount: z
    .string('invalid_amount')
    .regex(decimal, 'invalid_amount')
    .optional()
    .meta({ description: 'US dollars. Absent: the smallest amount it suggests' }),
  token: z
    .string('invalid_token')
    .refine((text) => findToken(text) !== undefined, 'invalid_token')
    .optional()
    .meta({ description: 'To pay in: symbol or mint. Absent: USDC' }),
  message: intentMessage,
})
export type TipInput = z.output<typeof tipInput>

export const transactionOutput = z.object({
  success,
  type: z.literal('transaction'),
  transaction: z.base64().meta({ description: 'Serialized, unsigned versioned transaction' }),
  message: z.string().meta({ description: 'What the wallet shows' }),
  links: z.object({
    next: z.object({
      type: z.literal('post'),
      href: z.string().meta({ description: 'To POST `account` and `signature` to, once it is confirmed' }),
    }),
  }),
})
export type TransactionAnswer = Omit<z.output<typeof transactionOutput>, 'success'>

/** POST /actions/tip/:handle/sent, the callback of an Action's client. */
export const sentInput = z.object({
  handle: z.string(),
  intent: z.string('payment_intent_not_found').meta({ description: 'As `links.next` had it' }),
  account: checkedText('invalid_account', 'invalid_account', isAddress).meta({
    description: 'The wallet that has paid',
  }),
  signature: requiredText('invalid_tx_signature')
    .refine(isSignature, 'invalid_tx_signature')
    .meta({ description: 'Of the transaction that the wallet sent' }),
})
export type SentInput = z.output<typeof sentInput>

export const completedOutput = shown.extend({ type: z.literal('completed') })
export type CompletedAnswer = Omit<z.output<typeof completedOutput>, 'success'>

/** POST /actions/tip/:handle/naira. */
export const externalLinkOutput = z.object({
  success,
  type: z.literal('external-link'),
  externalLink: z.string().meta({ description: 'The public page' }),
})
export type ExternalLinkAnswer = Omit<z.output<typeof externalLinkOutput>, 'success'>
