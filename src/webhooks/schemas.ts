import { z } from 'zod'
import { eventTypes } from '../events/event.js'
import { requiredText } from '../http/input.js'
import { cursorInput, limitInput } from '../http/paging.js'
import { cleanLine, countCharacters } from '../kernel/text.js'

const mostDescriptionLength = 200
const success = z.literal(true)
const states = ['pending', 'delivered', 'failed'] as const
const sequence = z.int('invalid_redelivery').min(1, 'invalid_redelivery')

const id = requiredText('webhook_not_found').pipe(z.uuid('webhook_not_found'))
export const endpointInput = z.object({ id })

const description = z
  .string('invalid_description')
  .transform((text) => cleanLine(text))
  .refine((text) => countCharacters(text) <= mostDescriptionLength, 'invalid_description')
  .transform((text) => text || null)
  .meta({ maxLength: mostDescriptionLength })
const types = z
  .array(z.enum(eventTypes, 'invalid_types'), 'invalid_types')
  .max(eventTypes.length, 'invalid_types')
  .transform((given) => [...new Set(given)])
const url = z.string('invalid_webhook_url').transform((text) => text.trim())

export const newEndpointInput = z.object({
  url,
  types: types.default([]).meta({ description: 'The types that are sent; empty or absent: all' }),
  description: description.optional(),
})
export type NewEndpoint = z.output<typeof newEndpointInput>

export const changeInput = z.object({
  id,
  url: url.optional(),
  types: types.optional(),
  description: description.optional(),
  status: z.enum(['active', 'disabled'], 'invalid_status').optional(),
  replay: z.boolean('invalid_replay').default(true).meta({
    description: 'With `status` active: also send what happened while it was disabled. Default true',
  }),
})
export type EndpointChange = z.output<typeof changeInput>

const delivery = z.object({
  event: z.string(),
  sequence: z.int(),
  type: z.enum(eventTypes),
  state: z.enum(states),
  attempts: z.int(),
  status: z.int().nullable().meta({ description: 'HTTP status of the last attempt; null: no answer' }),
  durationMs: z.int().nullable(),
  answer: z
    .string()
    .nullable()
    .meta({ description: 'The first KB of the last answer, or why there was none' }),
  triedAt: z.iso.datetime().nullable(),
  nextAttemptAt: z.iso.datetime().nullable(),
})
const endpoint = z.object({
  id: z.uuid(),
  url: z.string(),
  description: z.string().nullable(),
  types: z.array(z.string()),
  status: z.enum(['active', 'disabled']),
  disabledBy: z.enum(['creator', 'operator', 'gone', 'failing', 'void']).nullable().meta({
    description:
      '`gone`: it answered 410; `failing`: nothing was delivered for five days; `void`: set up before the e-mail was proven, or shortly before the account was frozen',
  }),
  disabledAt: z.iso.datetime().nullable(),
  failingSince: z.iso.datetime().nullable(),
  publicKey: z.string().meta({ description: 'Verifies the signature `v1a`' }),
  previousSecretUntil: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  lastDelivery: delivery.nullable(),
})
export const endpointAnswer = z.object({ success, webhook: endpoint })
export const secretAnswer = z.object({
  success,
  webhook: endpoint,
  secret: z.string().meta({ description: 'Shown here and never again' }),
})
export const endpointsAnswer = z.object({ success, webhooks: z.array(endpoint) })

export const deliveriesInput = z.object({
  id,
  state: z.enum(states, 'invalid_state').optional(),
  cursor: cursorInput(/^[1-9]\d{0,17}$/),
  limit: limitInput,
})
export const deliveriesAnswer = z.object({
  success,
  deliveries: z.array(delivery),
  nextCursor: z.string().nullable(),
})

export const redeliveryInput = z.object({
  id,
  event: z
    .string('invalid_redelivery')
    .regex(/^evt_[0-9a-f]{32}_[1-9]\d{0,14}$/, 'invalid_redelivery')
    .optional()
    .meta({ description: 'One event' }),
  from: sequence.optional().meta({ description: 'With `to`: the events of these sequence numbers' }),
  to: sequence.optional(),
  failed: z
    .literal(true, 'invalid_redelivery')
    .optional()
    .meta({ description: 'All that have failed for good' }),
})
export type RedeliveryInput = z.output<typeof redeliveryInput>
export const redeliveryAnswer = z.object({ success, queued: z.int() })
