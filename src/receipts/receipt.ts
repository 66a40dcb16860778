import canonicalize from 'canonicalize'
import type { Knex } from 'knex'
import { deriveKey } from '../kernel/aead.js'
import { createKeySigner, type PublicKey } from '../kernel/signing-key.js'
import type { Config } from '../platform/config/config.js'
import { query, write } from '../platform/database/database.js'
import { isPaid, type Payment } from './payment.js'
import type { Receipt, SignedReceipt } from './schemas.js'

/** Changes with DATA_KEY. The public keys of before stay published (docs/keys.md). */
function signerOf({ dataKeys }: Pick<Config, 'dataKeys'>) {
  return createKeySigner(deriveKey(dataKeys.keyOf(dataKeys.sealing), 'receipt-signing/1'))
}

/** Undefined: it is not paid, or the chain may still undo it. */
export function receiptOf(
  { http, mode }: Pick<Config, 'http' | 'mode'>,
  payment: Payment,
  now: Date,
): Receipt | undefined {
  const { stage, tipId, amount, received, paidAt, creator, back, chain } = payment
  if (!payment.isFinal || !isPaid(stage)) return undefined
  if (tipId === undefined || received === undefined || paidAt === undefined) return undefined
  return {
    type: 'tip-receipt',
    version: 1,
    issuer: http.publicUrl,
    mode,
    status: stage,
    tipId,
    paidAt: paidAt.toISOString(),
    amount: amount.text,
    currency: amount.currency,
    refunded: back,
    received: received.text,
    receivedCurrency: received.currency,
    creator: { id: creator.creatorId, name: creator.creatorName },
    reference: payment.reference,
    chain: chain === undefined ? null : { network: 'solana:mainnet', ...chain },
    signedAt: now.toISOString(),
  }
}

/** Signs the canonical JSON of a receipt (RFC 8785) with Ed25519. */
export function signReceipt(config: Pick<Config, 'dataKeys'>, receipt: Receipt): SignedReceipt {
  const signer = signerOf(config)
  return { receipt, signature: signer.sign(canonicalize(receipt) as string), keyId: signer.keyId }
}

/** Publishes the key that signs. Before the first receipt that it signs, so that everybody finds it. */
export async function publishKey(db: Knex, config: Pick<Config, 'dataKeys'>): Promise<void> {
  const { keyId, publicKey } = signerOf(config)
  await write(db, {
    name: 'receipts.publish-key',
    text: 'insert into receipt_keys (key_id, public_key) values ($1, $2) on conflict do nothing',
    values: [keyId, publicKey],
  })
}

export type PublishedKey = PublicKey & { readonly since: Date }

/** The keys of all receipts, the newest first. */
export function listReceiptKeys(db: Knex): Promise<PublishedKey[]> {
  return query<PublishedKey>(db, {
    name: 'receipts.keys',
    text: /* sql */ `
      select key_id as "keyId", public_key as "publicKey", created_at as since from receipt_keys
      order by created_at desc, key_id`,
    values: [],
  })
}
