import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { isAddress } from '../../kernel/base58.js'
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
export const address = z.string().refine(isAddress, 'must be a base58 address')
/** The text of a file. */
const file = z.string().transform((path, ctx) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    ctx.addIssue({ code: 'custom', message: 'must be the path of a file that this process may read' })
    return z.NEVER
  }
})
export const between = (min: number, max: number) => z.number().min(min).max(max)
export const number = (min: number, max: number) => z.coerce.number().min(min).max(max)
export const whole = (min: number, max: number) => number(min, max).int()
/** A port of the loopback, or an address with a port. */
export const listenAddress = z.string().transform((text, ctx) => {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const { success, data: port = 0 } = whole(0, 65_535).safeParse(digits === '' ? undefined : digits)
  if (!success) ctx.addIssue({ code: 'custom', message: 'must be a port, or <address>:<port>' })
  return { host: host.replace(/^\[|\]$/g, ''), port }
})
export const key = z
  .string()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32, 'must be 32 bytes, base64')
/** A guard's limit, which `off` takes away. */
export const orOff = (form: z.ZodType<number>) =>
  z.union([z.literal('off').transform(() => undefined), form], { error: 'must be such a number, or off' })
/**
 * Amounts by name, such as `hour:5000000,day:off`. A later one replaces an earlier one, and `off` alone all before it: what is given
 * stands behind the defaults.
 */
export const named = <const Name extends string>(names: readonly Name[]) =>
  z.string().transform((text, ctx): Readonly<Record<Name, number | undefined>> => {
    const pattern = new RegExp(`^(?:off|(${names.join('|')}):(off|\\d{1,12}))$`)
    const parts = text.split(',').map((part) => pattern.exec(part.trim()))
    if (parts.includes(null)) {
      const message = `must be off, or some of ${names.join(', ')}, each with an amount or off, such as ${names[0]}:off`
      ctx.addIssue({ code: 'custom', message })
    }
    const given = parts.slice(parts.map((part) => part?.[0]).lastIndexOf('off') + 1)
    return Object.fromEntries([
      ...names.map((name) => [name, undefined]),
      ...given.map((part) => [part?.[1], part?.[2] === 'off' ? undefined : Number(part?.[2])]),
    ]) as Record<Name, number | undefined>
  })
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
/** The address in `Name <address>`, or the whole text. */
export const addressIn = (text: string): string => /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text
export const mailbox = z.string().refine((text) => z.email().safeParse(addressIn(text)).success, {
  error: ({ input }) =>
    /@[^@.]+$/.test(addressIn(String(input)))
      ? 'must have a domain with a dot after the @, such as support@example.com'
      : 'must be an e-mail address, alone or as Name <address>',
})

/** What `pg` accepts: a URL, which may leave out the host and name a socket in its query, or the path of a socket. */
function isPostgres(text: string): boolean {
  if (/^(\/|socket:)/.test(text)) return true
  return /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
}

/** What `ioredis` accepts: a URL, the same without its scheme but with a port, or the path of a socket. */
function isRedis(text: string): boolean {
  if (/^rediss?:\/\//i.test(text)) return URL.canParse(text)
  return text.startsWith('/') || (/^[^/]*:\d+([/?]|$)/.test(text) && URL.canParse(`redis://${text}`))
}

/** `pgbouncer=true` in the query: a pooler in transaction mode, behind which no statement is prepared. `pg_dump` would refuse the word. */
export const postgres = z
  .string()
  .refine(isPostgres, 'must be a postgres(ql) URL')
  .transform((text) => {
    const url = text.replace(/([?&])pgbouncer=true(&|$)/, (_, before, after) => (after === '' ? '' : before))
    return { url, prepared: url === text }
  })

/** A standby has the roles of its primary, so user and password are those of DATABASE_URL, and it is no secret. */
export const standbyPostgres = z
  .string()
  .regex(
    /^postgres(ql)?:\/\/[^@]+$/i,
    'must be a postgres(ql) URL without a user: that of DATABASE_URL is used',
  )
  .pipe(postgres)

const redisOptions = z.object({
  namespace: z
    .string()
    .regex(/^[\w-]{1,40}$/)
    .default('tipping'),
  cluster: flag.default(false),
  ca: file.optional(),
  insecure: flag.default(false),
})

/** One server, or several nodes of a cluster. Our options stand in the query and are taken out of it. */
export const redis = z
  .string()
  .refine((text) => text.split(',').every(isRedis), 'must be a redis(s) URL, or several of a cluster')
  .transform((text, ctx) => {
    const given: Record<string, string> = {}
    const nodes = text.split(',').map((node) => {
      const [address = '', query = ''] = node.trim().split('?')
      const others = new URLSearchParams(query)
      for (const name of Object.keys(redisOptions.shape)) {
        const value = others.get(name)
        if (value !== null) given[name] = value
        others.delete(name)
      }
      return others.size === 0 ? address : `${address}?${others}`
    })
    const { data } = redisOptions.safeParse(given)
    if (data === undefined) {
      const message =
        'has a bad option: namespace takes letters, digits, _ and -, ca a file that this process may read, cluster and insecure true or false'
      ctx.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    const { namespace, cluster, ca, insecure } = data
    return { url: nodes.join(','), namespace, cluster: cluster || nodes.length > 1, tls: { ca, insecure } }
  })
