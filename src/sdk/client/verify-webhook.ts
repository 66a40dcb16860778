import type { TippingEvent } from './events.js'

/** Why a webhook is refused. Answer it with 400. */
export class WebhookError extends Error {
  override name = 'WebhookError'
}

export interface ReceivedWebhook {
  /** As it arrived: JSON that was parsed and written again has another signature. */
  readonly body: string | Uint8Array
  /** Of a `Request`, or of Node’s `IncomingMessage`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** `whsec_...`, as the endpoint’s creation or rotation answered it. */
  readonly secret?: string
  /** `whpk_...`: instead of the secret, where no secret may be. */
  readonly publicKey?: string
  /** How far the time of the webhook may be from the clock here. Default: five minutes. */
  readonly toleranceSeconds?: number
}

/**
 * The event of a webhook (Standard Webhooks 1.0). Throws WebhookError for one that this service did not sign with this key, or not just
 * now. An event may come again: its `id` stays the same.
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  publicKey,
  toleranceSeconds = 300,
}: ReceivedWebhook): Promise<TippingEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string]
  const age = Date.now() / 1000 - (/^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN)
  if (Number.isNaN(age)) throw new WebhookError('the header webhook-timestamp is no time in seconds')
  if (age > toleranceSeconds) throw new WebhookError('the webhook is too old')
  if (age < -toleranceSeconds) throw new WebhookError('the webhook is from the future')

  const { version, key } = await keyOf(secret, publicKey)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const sent = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(prefix.length + sent.length)
  signed.set(prefix)
  signed.set(sent, prefix.length)
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith(`${version},`)
      ? bytesOf(signature.slice(version.length + 1))
      : undefined
    // The comparison takes the same time wherever a signature differs.
    if (bytes !== undefined && (await crypto.subtle.verify(key.algorithm.name, key, bytes, signed)))
      return JSON.parse(text) as TippingEvent
  }
  throw new WebhookError(`no ${version} signature of the webhook is of this key`)
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '') throw new WebhookError(`the header ${name} is missing`)
  return value
}

async function keyOf(secret: string | undefined, publicKey: string | undefined) {
  if ((secret === undefined) === (publicKey === undefined))
    throw new TypeError('verifyWebhook needs either secret or publicKey')
  const [prefix, version, algorithm] =
    secret === undefined
      ? (['whpk_', 'v1a', { name: 'Ed25519' }] as const)
      : (['whsec_', 'v1', { name: 'HMAC', hash: 'SHA-256' }] as const)
  const text = secret ?? publicKey ?? ''
  const bytes = text.startsWith(prefix) ? bytesOf(text.slice(prefix.length)) : undefined
  if (bytes === undefined || bytes.length === 0) throw new TypeError(`the key is not ${prefix}<base64>`)
  return { version, key: await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']) }
}

/** Of base64, or of base64url. Undefined for other text. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(base64.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
