import { z } from 'zod'
import { shownLine } from '../http/input.js'
import type { ErrorCode } from '../kernel/errors.js'
import { senderNameOutput } from '../tips/schemas.js'

const wrong: ErrorCode = 'invalid_settings'
const success = z.literal(true)
const mostTiers = 10
const mostFilterWords = 200

const number = (least: number, most: number) => z.number(wrong).min(least, wrong).max(most, wrong)
const flag = z.boolean(wrong)
const oneOf = <Choice extends string>(...choices: readonly [Choice, ...Choice[]]) => z.enum(choices, wrong)
const usd = number(0, 1_000_000)

const line = (most: number) => shownLine(wrong, most).meta({ minLength: 1, maxLength: most })

const template = line(200).meta({ description: '`{sender}`, `{amount}` and `{token}` are filled in' })
const sound = oneOf('none', 'chime', 'bell', 'coins', 'fanfare')
const durationMs = number(1000, 60_000).meta({ description: 'How long an alert is shown' })

const tier = z.object(
  {
    fromUsd: usd.meta({ description: 'For tips worth this much or more; the highest that fits counts' }),
    template: template.optional(),
    sound: sound.optional(),
    durationMs: durationMs.optional(),
    picture: z
      .string(wrong)
      .regex(/^[0-9a-f]{16}$/, wrong)
      .optional()
      .meta({ description: 'As `POST /creators/overlay/pictures` answered it' }),
  },
  wrong,
)

/** Every setting of an overlay. */
const fields = {
  template,
  durationMs,
  gapMs: number(0, 60_000).meta({ description: 'The pause between two alerts' }),
  minUsd: usd.meta({ description: 'The smallest tip that is announced' }),
  message: flag.meta({ description: 'Whether messages are shown' }),
  position: oneOf('bottom', 'top', 'left', 'right', 'center'),
  animation: oneOf('slide', 'fade', 'pop', 'none'),
  theme: oneOf('dark', 'light'),
  accent: z
    .string(wrong)
    .regex(/^#[0-9a-f]{6}$/i, wrong)
    .transform((text) => text.toLowerCase())
    .meta({ description: '`#rrggbb`' }),
  scale: number(0.25, 4),
  sound,
  volume: number(0, 1),
  queue: number(1, 500)
    .int(wrong)
    .meta({ description: 'Tips that wait at most; one alert sums up the others' }),
  replayMinutes: number(0, 1440).meta({
    description: 'How old a missed tip may be; 0: no missed tip is shown',
  }),
  hold: flag.meta({ description: 'Whether alerts wait while the source is not shown' }),
  dot: flag.meta({ description: 'Whether a dot appears after a minute without a connection' }),
  tiers: z.array(tier, wrong).max(mostTiers, wrong).meta({ description: 'What differs by amount' }),
  speech: z
    .object({ enabled: flag, fromUsd: usd }, wrong)
    .meta({ description: 'Alerts from this amount on are read out by the browser' }),
  approval: oneOf('none', 'filtered', 'all').meta({
    description:
      'Which tips with words wait for an approval. `none`: those with words of the filter are announced without their words',
  }),
  filter: z
    .array(line(40), wrong)
    .max(mostFilterWords, wrong)
    .transform((texts) => [...new Set(texts)])
    .meta({ description: 'Words and phrases, in any case; `*` at the end stands for any ending' }),
  topDays: number(1, 366).int(wrong).meta({ description: 'The days that the list of top supporters counts' }),
}
const settings = z.object(fields)
export type OverlaySettings = z.output<typeof settings>

const defaults: OverlaySettings = {
  template: '{sender} tipped {amount} {token}',
  durationMs: 7000,
  gapMs: 600,
  minUsd: 0,
  message: true,
  position: 'bottom',
  animation: 'slide',
  theme: 'dark',
  accent: '#7c5cff',
  scale: 1,
  sound: 'none',
  volume: 0.5,
  queue: 50,
  replayMinutes: 10,
  hold: true,
  dot: true,
  tiers: [],
  speech: { enabled: false, fromUsd: 0 },
  approval: 'none',
  filter: [],
  topDays: 30,
}

/** The settings as stored, with the defaults of what was never set. */
export function parseSettings(stored: object): OverlaySettings {
  return settings.parse({ ...defaults, ...stored })
}

/** What the overlay's page may know: everything but what is kept off it. */
const look = settings.omit({ approval: true, filter: true, topDays: true })
export type OverlayLook = z.output<typeof look>

export function lookOf({ approval: _, filter: __, topDays: ___, ...rest }: OverlaySettings): OverlayLook {
  return rest
}

/** PATCH /creators/overlay: absent settings stay as they are. */
export const settingsChange = settings.partial()
export type SettingsChange = z.output<typeof settingsChange>

const overlay = z.object({
  url: z.string().meta({ description: 'For the streaming program. Whoever has it sees the alerts' }),
  settings,
})
export const overlayAnswer = z.object({ success, overlay })

export const testInput = z.object({
  amountUsd: z
    .number('invalid_amount')
    .min(0.01, 'invalid_amount')
    .max(1_000_000, 'invalid_amount')
    .default(5)
    .meta({ description: 'What the sample is worth, for a look at the tiers' }),
})

/** The largest picture that is taken, in bytes. */
export const mostPictureBytes = 1024 * 1024
export const pictureInput = z.object({ picture: z.instanceof(Uint8Array, { error: 'invalid_picture' }) })
export const pictureAnswer = z.object({ success, picture: z.string() })

const decisions = ['approve', 'hold', 'hide'] as const
export const decisionInput = z.object({
  signature: z
    .string('tip_not_found')
    .regex(/^\w{1,128}$/, 'tip_not_found')
    .meta({ description: 'As `GET /creators/tips` lists it' }),
  decision: z.enum(decisions, 'invalid_decision').meta({
    description:
      '`approve`: announce it if it waits. `hold`: keep it off overlay and pages. `hide`: delete its message and name everywhere, for good',
  }),
})
export type Decision = z.output<typeof decisionInput>['decision']

const streamedTip = z.object({
  eventId: z.string().meta({ description: 'The `signature` of the tip' }),
  amount: z.number(),
  receivedAmount: z.number(),
  tokenSymbol: z.string(),
  amountNgn: z.number().optional().meta({ description: 'What was paid for a naira tip' }),
  sender: z.string(),
  senderName: senderNameOutput,
  message: z.string().nullable(),
  timestamp: z.iso.datetime(),
  valueUsd: z.number(),
})
const tipStates = ['shown', 'without_words', 'waiting', 'held', 'hidden'] as const
export type TipState = (typeof tipStates)[number]
const judgedTip = streamedTip.extend({
  state: z.enum(tipStates).meta({ description: 'What the overlay does with it. `waiting`: for an approval' }),
})
export type JudgedTip = z.output<typeof judgedTip>
export const decisionAnswer = z.object({ success, state: z.enum(tipStates) })
export const judgedTipsAnswer = z.object({
  success,
  waiting: z.array(judgedTip).meta({ description: 'Oldest first, of the newest 1,000 tips' }),
  latest: z.array(judgedTip).meta({ description: 'Newest first' }),
})

export const tokenInput = z.object({ token: z.string('not_found') })

/** GET /overlay/:token/stream. */
export const overlayEvent = z.union([
  z.object({ status: z.literal('connected'), at: z.iso.datetime(), settings: look }),
  streamedTip.extend({ type: z.literal('tip') }),
  z.object({ type: z.literal('settings'), settings: look }),
  z.object({ type: z.literal('test'), valueUsd: z.number() }),
  z.object({
    type: z.literal('removed'),
    eventId: z.string().meta({ description: 'Of a tip that must not be shown any more' }),
  }),
])

/** GET /overlay/:token/figures. */
export const figuresAnswer = z.object({
  success,
  goal: z
    .object({ title: z.string(), amountUsd: z.number(), raisedUsd: z.number() })
    .nullable()
    .meta({ description: 'Of the public page; null where it has none' }),
  top: z
    .array(z.object({ name: z.string(), valueUsd: z.number() }))
    .meta({ description: 'Who gave most in the days of the settings, of the newest 1,000 tips' }),
  latest: z.array(streamedTip),
})
export type Figures = Omit<z.output<typeof figuresAnswer>, 'success'>
