import { z } from 'zod'
import { limitInput } from '../http/paging.js'
import { eventTypes } from './event.js'

/** A sequence number: every event after it. */
const after = z
  .string('invalid_after')
  .regex(/^\d{1,15}$/, 'invalid_after')
  .transform(Number)
  .meta({
    description:
      'The `sequence` of the last event handled, or `after` of the last answer, which may be later; 0: from the beginning',
  })

/** Event types, separated by commas; `tip.*` means all that begin with `tip.`. Absent: all. */
const types = z
  .string('invalid_types')
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine((names) => names.every((name) => expand(name).length > 0), 'invalid_types')
  .transform((names) => [...new Set(names.flatMap(expand))])
  .default([])
  .meta({
    description: 'Types separated by commas, such as `tip.confirmed,withdrawal.*`; absent: all',
    maxLength: 500,
  })

function expand(name: string): (typeof eventTypes)[number][] {
  return eventTypes.filter(
    (type) => type === name || (name.endsWith('.*') && type.startsWith(name.slice(0, -1))),
  )
}

const mostWaitSeconds = 30

/** API: GET /creators/events. */
export const eventsInput = z.object({
  after: after.default(0),
  types,
  limit: limitInput,
  wait: z
    .string('invalid_wait')
    .regex(/^(?:\d|[12]\d|30)$/, 'invalid_wait')
    .transform(Number)
    .default(0)
    .meta({ description: `Seconds to wait for an event when there is none, at most ${mostWaitSeconds}` }),
})
export type EventsInput = z.output<typeof eventsInput>

/** API: GET /creators/stream. */
export const eventStreamInput = z.object({ after: after.optional(), types })

const event = z.object({
  id: z.string().meta({ description: 'The same for every reader; `webhook-id` of a webhook' }),
  type: z.enum(eventTypes),
  timestamp: z.iso.datetime(),
  sequence: z.number().int().meta({ description: "Without holes in the creator's log" }),
  data: z.record(z.string(), z.unknown()),
})

export const eventsOutput = z.object({
  success: z.literal(true),
  events: z.array(event),
  after: z.number().int().meta({ description: 'Pass it as `after` of the next call' }),
  hasMore: z.boolean(),
})

export const eventStreamOutput = z.union([
  z.object({ status: z.literal('connected'), sequence: z.number().int() }),
  event,
])
