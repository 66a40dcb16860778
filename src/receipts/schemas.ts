import { z } from 'zod'
import { paidStages } from './payment.js'

const success = z.literal(true)
const decimal = z.string().regex(/^\d+(\.\d+)?$/)

/** What is signed. Texts only, so that every language writes the same canonical JSON. Nothing is about the payer. */
const receiptOutput = z.object({
  type: z.literal('tip-receipt'),
  version: z.literal(1),
  issuer: z.string().meta({ description: 'The address of the service' }),
  mode: z.enum(['live', 'test']).meta({ description: '`test`: play money' }),
  status: z.enum(paidStages),
  tipId: z.string().meta({ description: 'As `signature` in lists and `eventId` in events' }),
  paidAt: z.iso.datetime(),
  amount: decimal.meta({ description: 'What was paid' }),
  currency: z.string(),
  refunded: decimal.meta({ description: 'What of `amount` went back to the payer, or is on its way' }),
  received: decimal.meta({ description: 'What the creator got, after the fee' }),
  receivedCurrency: z.string(),
  creator: z.object({ id: z.uuid().nullable(), name: z.string().nullable() }),
  reference: z.string().nullable().meta({ description: 'As the integrator gave it' }),
  chain: z
    .object({
      network: z.literal('solana:mainnet'),
      signature: z.string(),
      mint: z.string(),
      wallet: z.string().meta({ description: 'That was paid' }),
    })
    .nullable()
    .meta({ description: 'Null for naira' }),
  signedAt: z.iso.datetime().meta({ description: 'The receipt says how the payment stood then' }),
})
export type Receipt = z.output<typeof receiptOutput>

export const receiptInput = z.object({ token: z.string() })
export const receiptAnswer = z.object({
  success,
  receipt: receiptOutput,
  signature: z.string().meta({
    description: 'Ed25519 over the canonical JSON (RFC 8785) of `receipt`, base64url',
  }),
  keyId: z.string().meta({ description: 'The `kid` of the key' }),
})
export type SignedReceipt = Omit<z.output<typeof receiptAnswer>, 'success'>

const key = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: z.string(),
  x: z.string().meta({ description: 'The public key: 32 bytes, base64url' }),
  signs: z.enum(['receipts', 'reports']).meta({ description: 'A key signs nothing else' }),
  since: z.iso.datetime(),
})

export const keysInput = z.object({})
/** GET /.well-known/tipping-keys.json: a JWK Set (RFC 7517). */
export const keysAnswer = z.object({ success, keys: z.array(key) })
