import { z } from 'zod'
import { cursorInput, formatInput, limitInput } from '../../http/paging.js'
import { ownReferenceOutput } from '../../intents/own-reference.js'
import { isAddress } from '../../kernel/base58.js'
import type { ErrorCode } from '../../kernel/errors.js'
import { cleanLine, countCharacters } from '../../kernel/text.js'
import { tokenBySymbol } from '../../kernel/tokens.js'
import { fiatSymbol, senderNameOutput, tipListItem, tipStatus } from '../schemas.js'

const maxSearchLength = 100
const daysPattern = /^(?:[1-9]|[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6])$/
const defaultDays = 30
const dayMs = 24 * 3600 * 1000
const success = z.literal(true)

/** An ISO 8601 time with its offset, or a UTC date, which means the start of that day. */
function moment(errorCode: ErrorCode) {
  const isDate = z.iso.date()
  return z
    .union([z.iso.datetime({ offset: true }), isDate], errorCode)
    .transform((text) => ({ at: new Date(text), wholeDay: isDate.safeParse(text).success }))
}

/** API: GET /creators/tips. The cursor contains the time a tip was recorded (epoch ms) and its id. */
export const creatorTipsInput = z.object({
  cursor: cursorInput(/^\d{1,14}\.[\w:-]{1,140}$/),
  limit: limitInput,
  token: z
    .string('invalid_token')
    .transform((text) => tokenBySymbol(text)?.mint ?? text)
    .refine((token) => token === fiatSymbol || isAddress(token), 'invalid_token')
    .optional()
    .meta({ description: `Symbol or mint; ${fiatSymbol}: tips in naira` }),
  status: z.enum(tipStatus.options, 'invalid_status').optional(),
  from: moment('invalid_from')
    .transform(({ at }) => at)
    .optional()
    .meta({ description: 'ISO 8601; recorded then or later' }),
  to: moment('invalid_to')
    .transform(({ at, wholeDay }) => new Date(at.getTime() + (wholeDay ? dayMs : 0)))
    .optional()
    .meta({ description: 'ISO 8601; recorded before then. A date includes its whole day (UTC)' }),
  q: z
    .string('invalid_q')
    .transform((text) => cleanLine(text))
    .refine((text) => countCharacters(text) <= maxSearchLength, 'invalid_q')
    .optional()
    .meta({
      description:
        'Part of the message, the sender, your reference or the payment’s, in any case, in the newest 10,000 tips that the other filters let through',
      maxLength: maxSearchLength,
    }),
  sender: z
    .string('invalid_sender')
    .transform((text) => cleanLine(text))
    .refine((text) => countCharacters(text) <= maxSearchLength, 'invalid_sender')
    .optional()
    .meta({
      description:
        'Exactly this sender, as a tip of the list names it, in the newest 10,000 tips that the other filters let through',
      maxLength: maxSearchLength,
    }),
  format: formatInput,
})
export type CreatorTipsInput = z.output<typeof creatorTipsInput>

/** Only the creator is shown whether a tip is disputed, and what arrived of one that was paid too little. Absent: it is neither. */
const creatorTip = tipListItem.extend({
  senderName: senderNameOutput,
  disputed: z.boolean().optional(),
  replyBy: z.iso.datetime().optional().meta({
    description: 'Of a disputed tip: until then you can tell the operator what it was for',
  }),
  arrivedNgn: z.number().optional(),
  shortNgn: z.number().optional(),
  arrivedState: z.enum(['waiting', 'going_back', 'given_back']).optional(),
  ...ownReferenceOutput,
})
export type CreatorTip = z.output<typeof creatorTip>

export const creatorTipsAnswer = z.object({
  success,
  tips: z.array(creatorTip),
  nextCursor: z.string().nullable(),
  searchedSince: z.iso.datetime().nullable().meta({
    description:
      'With `q` or `sender`: the time of the oldest tip searched, when older ones were not searched. A search reads the newest 10,000 tips that the other filters let through',
  }),
})

export const tokenBalancesInput = z.object({})
const tokenBalance = z.object({
  symbol: z.string(),
  mint: z.string(),
  amount: z.number(),
  valueUsd: z.number(),
})
export type TokenBalance = z.output<typeof tokenBalance>
export const tokenBalancesAnswer = z.object({ success, tokens: z.array(tokenBalance) })

/** Names only: PostgreSQL reads an offset such as `+01:00` with the opposite sign. */
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z](?:[\w+/-]{0,62}\w)?$/.test(text)) return false
  try {
    return Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export const dailyInput = z.object({
  days: z
    .string('invalid_days')
    .regex(daysPattern, 'invalid_days')
    .transform(Number)
    .default(defaultDays)
    .meta({ description: '1 to 366, default 30; the last is today' }),
  timeZone: z
    .string('invalid_time_zone')
    .refine(isTimeZone, 'invalid_time_zone')
    .default('UTC')
    .meta({ description: 'Whose days: an IANA name such as Africa/Lagos; default UTC', maxLength: 64 }),
})

const day = z.object({ date: z.iso.date(), count: z.number().int(), valueUsd: z.number() })
export type Day = z.output<typeof day>
export const dailyAnswer = z.object({ success, days: z.array(day) })
