import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { signMessageBytes } from '../kernel/ed25519.js'
import { createSealer } from '../kernel/personal-data.js'
import type { Config } from '../platform/config/config.js'
import { type SealedColumn, sealedBatchSize } from '../platform/database/sealed-column.js'

type Keys = Pick<Config, 'dataKeys'>

const secretPurpose = 'webhook-secret/1'
const keyPurpose = 'webhook-key/1'
const row = {
  table: 'webhook_endpoints',
  id: 'id',
  idType: 'uuid',
  context: 'id::text',
  batchSize: sealedBatchSize,
} as const

/** What signs webhooks. A secret moves to `sealed_previous` as it is. */
export const sealedWebhookKeys: readonly SealedColumn[] = [
  { ...row, column: 'sealed_secret', purpose: secretPurpose },
  { ...row, column: 'sealed_previous', purpose: secretPurpose },
  { ...row, column: 'sealed_key', purpose: keyPurpose },
]

/** `text` is shown to the creator once. */
export function newWebhookSecret({ dataKeys }: Keys, endpointId: string) {
  const secret = randomBytes(32)
  return {
    text: `whsec_${secret.toString('base64')}`,
    sealed: createSealer(dataKeys, secretPurpose).seal(secret, endpointId),
  }
}

export function newWebhookKey({ dataKeys }: Keys, endpointId: string) {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return {
    publicKey: Buffer.from(x, 'base64url'),
    sealed: createSealer(dataKeys, keyPurpose).seal(Buffer.from(d, 'base64url'), endpointId),
  }
}

export const publicKeyText = (publicKey: Buffer): string => `whpk_${publicKey.toString('base64')}`

/** The keys of an endpoint, opened: each secret signs, and the Ed25519 seed. */
export interface SigningKeys {
  readonly secrets: readonly Uint8Array[]
  readonly seed: Uint8Array
}

/** Throws SealBroken when DATA_KEY is another one. `sealedPrevious`: null once it signs no more. */
export function openSigningKeys(
  { dataKeys }: Keys,
  endpoint: {
    readonly id: string
    readonly sealedSecret: Buffer
    readonly sealedPrevious: Buffer | null
    readonly sealedKey: Buffer
  },
): SigningKeys {
  const { id, sealedSecret, sealedPrevious, sealedKey } = endpoint
  const sealer = createSealer(dataKeys, secretPurpose)
  const sealed = sealedPrevious === null ? [sealedSecret] : [sealedSecret, sealedPrevious]
  return {
    secrets: sealed.map((secret) => sealer.open(secret, id)),
    seed: createSealer(dataKeys, keyPurpose).open(sealedKey, id),
  }
}

/** The headers of one attempt (Standard Webhooks 1.0). `now`: in epoch ms. */
export function signatureHeaders(
  { secrets, seed }: SigningKeys,
  { id, body }: { readonly id: string; readonly body: string },
  now: number,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(now / 1000))
  const signed = Buffer.from(`${id}.${timestamp}.${body}`)
  const signatures = [
    ...secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`),
    `v1a,${signMessageBytes(seed, signed).toString('base64')}`,
  ]
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
