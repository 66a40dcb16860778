import type { Exchange } from './recorder.js'

/** Values of these fields tell how the provider works, and nothing about a person. All others keep only their form. */
const kept = new Set([
  ...['status', 'domain', 'currency', 'channel', 'type', 'code', 'resolution', 'category', 'country', 'slug'],
  ...[
    'amount',
    'requested_amount',
    'fees',
    'fee_charged',
    'balance',
    'refund_amount',
    'active',
    'is_deleted',
  ],
  ...['total', 'skipped', 'perPage', 'page', 'pageCount', 'source', 'longcode', 'gateway'],
])
/** The provider writes them, but may repeat what was sent. */
const texts = new Set(['message', 'nextStep'])
const isoTime = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/

/** An exchange as it may be kept: fields of a naira provider keep only their form, and no setting that is secret is in it. */
export function cleanExchange(provider: string, exchange: Exchange, secrets: readonly string[]): unknown {
  const { method, path, sent, status, body } = exchange
  const isNaira = provider === 'fiatpay'
  const hidesPath = !isNaira && !/^\/[^?]*(order|quote|swap)\b/.test(path)
  const whole = {
    method,
    // Other addresses may be or contain a key.
    path: hidesPath ? '/' : isNaira ? maskPath(path) : path,
    ...(sent !== undefined && { sent: isNaira ? mask(sent) : sent }),
    status,
    body: isNaira ? mask(body) : (body ?? null),
  }
  return JSON.parse(JSON.stringify(whole), (_name, value: unknown) =>
    typeof value === 'string' ? withoutSecrets(value, secrets) : value,
  )
}

/** A text without the values of secret settings, also where they are a part of an address. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((cleaned, secret) => cleaned.replaceAll(secret, 'removed'), text)
}

const shortestSecret = 6

/** What must not be shown: the values themselves, and of addresses the parts in which keys stand. */
export function secretParts(values: readonly (string | undefined)[]): string[] {
  const parts = values
    .flatMap((value) => value?.split(',') ?? [])
    .flatMap((value) => {
      if (!URL.canParse(value)) return [value]
      const { username, password, pathname, searchParams } = new URL(value)
      const segments = pathname.split('/').filter((part) => part.length >= 16)
      return [value, username, decodeURIComponent(password), password, ...segments, ...searchParams.values()]
    })
  return parts.filter((part) => part.length >= shortestSecret).sort((a, b) => b.length - a.length)
}

/** The path tells which call it is. What is looked up by it keeps its form. */
function maskPath(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://x')
  const names = pathname.split('/').map((part) => (/\d/.test(part) ? maskText(part) : part))
  const query = [...searchParams].map(([name, value]) => [name, kept.has(name) ? value : maskText(value)])
  return names.join('/') + (query.length > 0 ? `?${new URLSearchParams(query)}` : '')
}

function mask(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, field))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        field === 'metadata' ? typeof item : mask(item, name),
      ]),
    )
  if (kept.has(field)) return typeof value === 'string' ? maskLong(value) : value
  if (typeof value === 'number') return Number(maskText(String(value)).replace(/^(-?)0/, '$11'))
  if (typeof value !== 'string') return value
  return texts.has(field) ? maskLong(value) : maskText(value)
}

/** E-mail addresses and numbers of an account or a telephone, in a text that is kept otherwise. */
function maskLong(text: string): string {
  return text.replace(/\S+@\S+/g, 'x@x.xx').replace(/\d{7,}/g, maskText)
}

/** Letters and digits become others; the form of what they say stays. */
function maskText(text: string): string {
  if (isoTime.test(text)) return text
  if (/^https?:/.test(text) && URL.canParse(text)) return `${new URL(text).origin}/masked`
  return text
    .replace(/\p{Lu}/gu, 'X')
    .replace(/\p{L}(?<!X)/gu, 'x')
    .replace(/\d/g, '0')
}
