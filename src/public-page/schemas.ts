import { z } from 'zod'
import { shownLine } from '../http/input.js'
import { languages } from '../kernel/languages.js'
import { cleanLine, countCharacters } from '../kernel/text.js'
import { parsePageHandle } from './handle-rules.js'

const mostLinks = 5
const mostGoalUsd = 1_000_000
const success = z.literal(true)
const wrong = 'invalid_page'

const line = (most: number) => shownLine(wrong, most).meta({ maxLength: most })

/** A line, or null where it shows nothing. */
function optionalLine(most: number) {
  return z
    .string(wrong)
    .transform((text) => cleanLine(text) || null)
    .refine((text) => text === null || countCharacters(text) <= most, {
      error: wrong,
      params: { problem: `must have at most ${most} characters` },
    })
    .nullish()
    .meta({ maxLength: most })
}

const link = z.object({
  title: line(50),
  url: z
    .string(wrong)
    .transform((text, { issues }) => {
      const address = parseLink(text.trim())
      if (address !== undefined) return address
      const problem = 'must be an https:// or http:// address of at most 500 characters'
      issues.push({ code: 'custom', input: text, message: wrong, params: { problem } })
      return z.NEVER
    })
    .meta({ maxLength: 500 }),
})

/** The address as a browser writes it. Undefined for other schemes, and for one with credentials. */
function parseLink(text: string): string | undefined {
  if (text.length > 500 || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPlain = /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isPlain && url.href.length <= 500 ? url.href : undefined
}

/** PATCH /creators/page: absent fields stay unchanged. */
export const pageChange = z.object({
  handle: z
    .string('invalid_handle')
    .transform((text, { issues }) => {
      const handle = parsePageHandle(text)
      if (handle !== undefined) return handle
      const problem = 'must have 3 to 30 of a-z, 0-9 and _'
      issues.push({ code: 'custom', input: text, message: 'invalid_handle', params: { problem } })
      return z.NEVER
    })
    .nullish()
    .meta({ minLength: 3, maxLength: 30, description: 'Null takes the page off the net' }),
  words: optionalLine(500),
  links: z.array(link, wrong).max(mostLinks, wrong).optional(),
  goal: z
    .object(
      {
        title: line(80),
        amountUsd: z.number(wrong).min(1, wrong).max(mostGoalUsd, wrong),
      },
      wrong,
    )
    .nullish()
    .meta({ description: 'Tips count from the moment a goal is set where there was none' }),
  wall: z.boolean(wrong).optional().meta({ description: 'Whether the page shows supporters' }),
  robots: z.boolean(wrong).optional().meta({ description: 'Whether search engines may list the page' }),
  currency: z.enum(['NGN', 'USD'], wrong).nullish().meta({ description: 'Null: by the visitor' }),
  language: z
    .enum(languages, wrong)
    .nullish()
    .meta({ description: 'Until a visitor chooses another. Null: by the browser' }),
  thanks: optionalLine(500),
})
export type PageChange = z.output<typeof pageChange>

const pageLink = z.object({ title: z.string(), url: z.string() })
export type PageLink = z.output<typeof pageLink>
const handleForm = z.string().meta({ minLength: 3, maxLength: 30 })

const page = z.object({
  handle: handleForm.nullable(),
  url: z.url().nullable().meta({ description: 'Null while there is no handle: nobody sees the page' }),
  payUrl: z
    .string()
    .nullable()
    .meta({ description: 'The same for wallets, as a link or QR code: Solana Pay' }),
  name: z.string(),
  pictureUrl: z.string().nullable().meta({ description: 'Within this service, with its version' }),
  words: z.string().nullable(),
  links: z.array(pageLink),
  goal: z.object({ title: z.string(), amountUsd: z.number(), raisedUsd: z.number() }).nullable(),
  wall: z.boolean(),
  robots: z.boolean(),
  currency: z.enum(['NGN', 'USD']).nullable(),
  language: z.enum(languages).nullable(),
  thanks: z.string().nullable(),
  oldHandles: z
    .array(z.object({ handle: handleForm, until: z.iso.datetime() }))
    .meta({ description: 'They lead to the page until then' }),
})
export type OwnPage = z.output<typeof page>
export const pageAnswer = z.object({ success, page })

/** The largest picture that is taken, in bytes. */
export const mostPictureBytes = 5 * 1024 * 1024
export const pictureInput = z.object({ picture: z.instanceof(Uint8Array, { error: 'invalid_picture' }) })

export const openInput = z.object({ handle: z.string('page_not_found') })
export const openAnswer = z.object({
  success,
  sessionToken: z.string().meta({ description: 'As that of POST /sdk/init' }),
})
