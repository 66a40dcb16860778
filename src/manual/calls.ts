import { codesWithProviderText, type ErrorCode, errors } from '../kernel/errors.js'
import type { LimitName, RateLimits } from '../platform/rate-limits/rate-limits.js'
import { limitText } from './describe-calls.js'
import { bodyFields, parameterFields } from './fields.js'
import { rowText, tableText } from './markdown.js'
import { type Call, codesOf } from './read-openapi.js'
import { samplesOf } from './samples.js'
import { type Chapter, callsChapters, callTexts, chapterOf, readText, type Section } from './texts.js'

/** The settings of this installation that the manual shows. */
export interface Installation {
  readonly base: string
  /** The stand-ins of a local stack. */
  readonly standIns: string
  readonly limits: RateLimits
  readonly mode: 'live' | 'test'
}

/** One chapter for each group of calls. A call that calls.md does not name is in the last. */
export function chaptersOfCalls(calls: readonly Call[], installation: Installation): Chapter[] {
  return callsChapters.flatMap(({ id, title, body, calls: named }, index) => {
    const isLast = index === callsChapters.length - 1
    const own = calls.filter(({ key }) => named.has(key) || (isLast && !callTexts.has(key)))
    const rows = own.map((call) => [linkTo(call), call.operation.summary])
    const sections = own.map((call) => sectionOf(call, installation))
    const list = tableText(['Call', 'Purpose'], rows)
    return own.length === 0 ? [] : [{ id, title, body: `${body}\n\n${list}`, sections }]
  })
}

const linkTo = ({ method, path, id }: Call): string => `[${method} ${path}](#${id})`

function sectionOf(call: Call, { base, limits }: Installation): Section {
  const parts = [
    `${call.operation.summary}. Credential: ${credentialsOf(call)}.`,
    ...(callTexts.get(call.key)?.notes ?? []),
    ...fieldTables(call),
    '#### Refusals',
    ...refusalsOf(call),
    `${limitText(call.operation['x-rate-limit'] as LimitName, limits)} **Repeating:** ${retrySafety(call)}`,
    ...samplesOf(call, base),
  ]
  return { id: call.id, title: `${call.method} ${call.path}`, body: parts.join('\n\n') }
}

/** The badge of each credential. A call with two accepts either. */
const credentialNames: Readonly<Record<string, string>> = {
  session: 'session cookie',
  accessToken: 'access token',
  apiKey: 'API key',
  sdkSession: 'session token',
}

function credentialsOf({ operation }: Call): string {
  const names = operation.security.flatMap((requirement) => Object.keys(requirement))
  return names.length === 0
    ? 'no credential'
    : names.map((name) => credentialNames[name] ?? name).join(' or ')
}

function fieldTables(call: Call): string[] {
  const parametersIn = (place: string) =>
    parameterFields(
      call,
      (call.operation.parameters ?? []).filter((parameter) => parameter.in === place),
    )
  const requests = [
    ['In the path', parametersIn('path')],
    ['Query', parametersIn('query')],
    ['Headers', parametersIn('header')],
    ['Body', call.body === undefined ? [] : bodyFields(call, '>', call.body)],
  ] as const
  return [
    ...requests.flatMap(([title, fields]) => (fields.length === 0 ? [] : fieldTable(title, fields, true))),
    ...fieldTable('Answer', bodyFields(call, '<', call.answer.schema), false),
  ]
}

function fieldTable(title: string, fields: ReturnType<typeof bodyFields>, isRequest: boolean): string[] {
  const rows = fields.map(({ name, type, required, rule, example }) => [
    `\`${name}\``,
    type,
    ...(isRequest ? [required ? 'yes' : 'no'] : []),
    rule,
    example === undefined ? '' : `\`${example}\``,
  ])
  const head = ['Field', 'Type', ...(isRequest ? ['Required'] : []), 'Rule', 'Example']
  return [`#### ${title}`, tableText(head, rows)]
}

function retrySafety({ operation, method, key }: Call): string {
  if (operation.parameters?.some(({ name }) => name === 'Idempotency-Key') === true)
    return 'safe with the same `Idempotency-Key`, for 24 hours: it answers the first answer again, with `Idempotency-Hit: true`.'
  if (/^post \/(chain\/tips\/create|actions\/tip\/\{handle\}\/sent)$/.test(key))
    return 'safe: a signature is recorded once.'
  if (method === 'GET') return 'safe: it changes nothing.'
  if (method === 'POST') return 'not idempotent: each successful request has its own effect.'
  return 'safe: the result is the same.'
}

/** Every call may answer these, so only the chapter of errors describes them. */
const common: readonly string[] = ['too_many_requests', 'internal_error', 'service_unavailable']
const refusalHead = ['Status', '`error`, exactly', '`code`', 'Cause', 'What to do']
/** A row of errors.md: code, cause, what to do. */
const guidanceRow = /^\| `(\w+)` \| (.+) \| (.+) \|$/gm
const errorsText = readText('errors')
const guidance = new Map(
  [...errorsText.matchAll(guidanceRow)].map(([, code = '', ...texts]) => [code, texts]),
)

/** `cause`: one that differs for a call. The error's text is exact, or a note that it quotes the provider. */
function refusalRow(code: ErrorCode, cause?: string): string[] {
  const [status, text] = errors[code]
  const [usualCause = '', remedy = ''] = guidance.get(code) ?? []
  const exact = codesWithProviderText.has(code) ? "the provider's own text" : `\`${text}\``
  return [String(status), exact, `\`${code}\``, cause ?? usualCause, remedy]
}

function refusalsOf(call: Call): string[] {
  const own = codesOf(call).filter(
    (code): code is ErrorCode => Object.hasOwn(errors, code) && !common.includes(code),
  )
  const causes = callTexts.get(call.key)?.causes
  const rows = own.map((code) => refusalRow(code, causes?.get(code)))
  const linked = common.map((code) => `[${code}](#error-${code})`).join(', ')
  return own.length === 0
    ? [`It may answer ${linked}.`]
    : [tableText(refusalHead, rows), `Also, like every call: ${linked}.`]
}

/** errors.md, with what the code knows about each error. */
export function chapterOfErrors(calls: readonly Call[]): Chapter {
  const head = tableText([...refusalHead, 'Answered by'], [])
  return chapterOf(
    errorsText
      .replaceAll(/^\| Code .*\n.*$/gm, head)
      .replaceAll(guidanceRow, (_, code: ErrorCode) =>
        rowText([...refusalRow(code), answeredBy(code, calls)]),
      ),
  )
}

function answeredBy(code: string, calls: readonly Call[]): string {
  if (common.includes(code)) return 'every call'
  const own = calls.filter((call) => codesOf(call).includes(code))
  return own.length === 0 ? 'any path' : own.map(linkTo).join(', ')
}
