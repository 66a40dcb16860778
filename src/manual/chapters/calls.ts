import type { LimitName, RateLimits } from '../../platform/rate-limits/rate-limits.js'
import { type Block, type Chapter, heading, type Section, table, text } from '../blocks.js'
import { groupOf, groups } from '../content/call-groups.js'
import { callNotes } from '../content/call-notes.js'
import { limitText } from '../describe-calls.js'
import type { Call } from '../read-openapi.js'
import { errorsOf } from './errors.js'
import { bodyFields, parameterFields } from './fields.js'
import { samplesOf } from './samples.js'

/** The settings of this installation that the manual shows. */
export interface Installation {
  readonly base: string
  /** The stand-ins of a local stack. */
  readonly standIns: string
  readonly limits: RateLimits
}

/** One chapter for each group of calls. */
export function callsChapters(calls: readonly Call[], installation: Installation): Chapter[] {
  return groups
    .map((group) => {
      const own = calls.filter(({ path }) => groupOf(path) === group)
      return chapterOf(group, own, installation)
    })
    .filter(({ sections }) => sections.length > 0)
}

function chapterOf(
  { id, title, about }: (typeof groups)[number],
  calls: readonly Call[],
  installation: Installation,
): Chapter {
  const rows = calls.map((call) => [`[${call.method} ${call.path}](#${call.id})`, call.operation.summary])
  return {
    id,
    title,
    blocks: [text(about), table(['Call', 'Purpose'], ...rows)],
    samples: [],
    sections: calls.map((call) => sectionOf(call, installation)),
  }
}

function sectionOf(call: Call, { base, limits }: Installation): Section {
  const { operation, method, path } = call
  const notes = callNotes[call.key] ?? []
  return {
    id: call.id,
    title: operation.summary,
    call: { method, path, badges: badgesOf(call) },
    blocks: [
      ...notes.map(text),
      ...requestBlocks(call),
      {
        kind: 'fields',
        title: 'Answer',
        fields: bodyFields(call, '<', call.answer.schema),
        isRequest: false,
      },
      heading('Refusals'),
      ...errorsOf(call),
      text(limitAndRetryText(call, limits)),
    ],
    samples: samplesOf(call, base),
  }
}

/** The badge of each credential. A call with two badges accepts either. */
const credentialNames: Readonly<Record<string, string>> = {
  session: 'session cookie',
  accessToken: 'access token',
  apiKey: 'API key',
  sdkSession: 'session token',
}

function badgesOf({ operation }: Call): string[] {
  const names = operation.security.flatMap((requirement) => Object.keys(requirement))
  return names.length === 0 ? ['no credential'] : names.map((name) => credentialNames[name] ?? name)
}

function requestBlocks(call: Call): Block[] {
  const parts: [title: string, place: string][] = [
    ['In the path', 'path'],
    ['Query', 'query'],
    ['Headers', 'header'],
  ]
  const parameters = parts.map(([title, place]): Block => {
    const own = (call.operation.parameters ?? []).filter((parameter) => parameter.in === place)
    return { kind: 'fields', title, fields: parameterFields(call, own), isRequest: true }
  })
  const body = call.body === undefined ? [] : bodyFields(call, '>', call.body)
  const all: Block[] = [...parameters, { kind: 'fields', title: 'Body', fields: body, isRequest: true }]
  return all.filter((block) => block.kind === 'fields' && block.fields.length > 0)
}

function limitAndRetryText({ operation, method, key }: Call, limits: RateLimits): string {
  const often = limitText(operation['x-rate-limit'] as LimitName, limits)
  return `${often} **Repeating:** ${retrySafety(method, key, operation.parameters?.some(({ name }) => name === 'Idempotency-Key') === true)}`
}

function retrySafety(method: string, key: string, takesKey: boolean): string {
  if (takesKey)
    return 'safe with the same `Idempotency-Key`, for 24 hours: it answers the first answer again, with `Idempotency-Hit: true`.'
  if (key === 'post /chain/tips/create') return 'safe: a signature is recorded once.'
  if (method === 'GET') return 'safe: it changes nothing.'
  if (method === 'POST') return 'not idempotent: each successful request has its own effect.'
  return 'safe: the result is the same.'
}
