import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { solMint, tokenByMint } from '../../kernel/tokens.js'
import { parseTrustProxy } from './trust-proxy.js'

// The forms that values of settings have.

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
export const url = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .transform((text) => text.replace(/\/+$/, ''))
export const flag = z.enum(['0', '1', 'true', 'false']).transform((text) => text === '1' || text === 'true')
export const proxies = z.string().transform((text, ctx) => {
  const trust = parseTrustProxy(text.trim())
  if (trust !== undefined) return trust
  const message = 'must be true, false, a number of proxies, or networks such as 10.0.0.0/8,2001:db8::/32'
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
})
export const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a base58 address')
/** The token that creators with yield routing receive. Swaps cannot pay out native SOL, and a stable token earns nothing. */
export const stakingMint = address.refine((mint) => {
  const token = tokenByMint(mint)
  return token !== undefined && !token.stable && mint !== solMint
}, 'must be a token the service knows, neither stable nor SOL')
/** The text of a file. */
export const file = z.string().transform((path, ctx) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    ctx.addIssue({ code: 'custom', message: 'must be the path of a file that this process may read' })
    return z.NEVER
  }
})
export const number = (min: number, max: number) => z.coerce.number().min(min).max(max)
export const whole = (min: number, max: number) => number(min, max).int()
export const key = z
  .string()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32, 'must be 32 bytes, base64')
/** A guard's limit, which `off` takes away. */
export const orOff = (form: z.ZodType<number>) =>
  z.union([z.literal('off').transform(() => undefined), form], { error: 'must be such a number, or off' })
/**
 * One secret, or two while one takes the place of the other: the first is used, and what was made with either is accepted.
 * `read`: a part as its value; undefined when it is not one.
 */
function oneOrTwo<Value>(read: (part: string) => Value | undefined, form: string) {
  return z.string().transform((text, ctx): readonly [Value, ...Value[]] => {
    const parts = text.split(',').map((part) => part.trim())
    const [first, ...others] = parts.flatMap((part) => read(part) ?? [])
    if (first !== undefined && others.length + 1 === parts.length && new Set(parts).size === parts.length)
      if (parts.length <= 2) return [first, ...others]
    ctx.addIssue({ code: 'custom', message: `must be ${form}, or two different ones separated by a comma` })
    return z.NEVER
  })
}
export const keys = oneOrTwo((part) => key.safeParse(part).data, '32 bytes, base64')
export const providerKeys = oneOrTwo((part) => (/^\S+$/.test(part) ? part : undefined), 'a key')
export const providerKey = z
  .string()
  .min(1)
  .regex(/^[^,]*$/, 'must be one key: two are for FIATPAY_SECRET_KEY, which checks webhooks')
const addressIn = (text: string): string => /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text
export const mailbox = z.string().refine((text) => z.email().safeParse(addressIn(text)).success, {
  error: ({ input }) =>
    /@[^@.]+$/.test(addressIn(String(input)))
      ? 'must have a domain with a dot after the @, such as support@example.com'
      : 'must be an e-mail address, alone or as Name <address>',
})

/** What `pg` accepts: a URL, which may leave out the host and name a socket in its query, or the path of a socket. */
export function isPostgres(text: string): boolean {
  if (/^(\/|socket:)/.test(text)) return true
  return /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
}

/** What `ioredis` accepts: a URL, the same without its scheme but with a port, or the path of a socket. */
export function isRedis(text: string): boolean {
  if (/^rediss?:\/\//i.test(text)) return URL.canParse(text)
  return text.startsWith('/') || (/^[^/]*:\d+([/?]|$)/.test(text) && URL.canParse(`redis://${text}`))
}
