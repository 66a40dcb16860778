import { type ErrorCode, errors, quoting } from '../../kernel/errors.js'
import { type Block, type Chapter, code, list, type Refusal, type Section, text } from '../blocks.js'
import { causesHere, errorGuide } from '../content/error-guide.js'
import { type Call, codesOf } from '../read-openapi.js'

/** Any call may answer these. They stand in the chapter of errors, not with each call. */
const common: readonly string[] = ['too_many_requests', 'internal_error', 'service_unavailable']

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errors, code)
const anchor = (name: string): string => `error-${name}`

/** What is answered as `error`; of a code that quotes somebody, that it does. */
function exactText(name: ErrorCode): string {
  return quoting.has(name) ? "the provider's own text" : `\`${errors[name][1]}\``
}

/** The refusals of one call. */
export function errorsOf(call: Call): Block[] {
  const own = codesOf(call).filter((name) => isKnown(name) && !common.includes(name)) as ErrorCode[]
  const refusals = own.map((name): Refusal => {
    const cause = causesHere[call.key]?.[name]
    return { ...refusalOf(name), ...(cause === undefined ? {} : { cause }) }
  })
  const linked = common.map((name) => `[${name}](#${anchor(name)})`).join(', ')
  const rest = text(`${own.length === 0 ? 'It may answer' : 'Besides, as every call:'} ${linked}.`)
  return own.length === 0 ? [rest] : [{ kind: 'refusals', refusals }, rest]
}

function refusalOf(name: ErrorCode): Refusal {
  const [status] = errors[name]
  return { href: `#${anchor(name)}`, status, code: name, error: exactText(name), ...errorGuide[name] }
}

/** Every refusal there is. */
export function errorsChapter(calls: readonly Call[]): Chapter {
  const names = Object.keys(errors) as ErrorCode[]
  const families = [...new Set(names.map((name) => errors[name][0]))].sort((a, b) => a - b)
  return {
    id: 'errors',
    title: 'Errors',
    blocks: [
      text(
        'A refusal has a status that is not 200 and a body of one shape. The texts are exact and stay; branch on `code`, show `error`, and keep `requestId`: with it we find what happened. It is also in the `X-Request-Id` header of every answer.',
      ),
      text(
        'Never treat a timeout as a refusal. Repeat with the same `Idempotency-Key` where a call takes one, or read how things stand.',
      ),
      list(
        '**400, 403, 404, 422**: the same request will fail again. Mend it first.',
        '**401**: get a new credential.',
        '**409, 429, 500, 502, 503**: may pass. Repeat with growing pauses; `Retry-After` says how long where it is known. A 502 is final for this request: its provider said no.',
      ),
    ],
    beside: [
      code('json', 'Every refusal', JSON.stringify(example, null, 2)),
      code('ts', 'With the client', ...clientLines),
    ],
    sections: families.map((status) => familySection(status, names, calls)),
  }
}

const example = {
  success: false,
  error: 'Unauthorized Origin',
  code: 'unauthorized_origin',
  requestId: '0b9e7f5a-1c2d-4e3f-8a6b-7c8d9e0f1a2b',
}
const clientLines = [
  "import { TippingError } from 'tipping-service/client'",
  '',
  'try {',
  '  await backend.init({ creatorId, originUrl })',
  '} catch (error) {',
  '  if (!(error instanceof TippingError)) throw error',
  '  if (error.temporary) await again()',
  '  else report(error.code, error.requestId)',
  '}',
]

const statusNames: Readonly<Record<number, string>> = {
  400: 'the request is wrong',
  401: 'no credential',
  403: 'not allowed',
  404: 'not there',
  405: 'wrong method',
  409: 'not yet',
  422: 'cannot be done so',
  429: 'too often',
  500: 'our fault',
  502: 'a provider refused',
  503: 'not now',
}

function familySection(status: number, names: readonly ErrorCode[], calls: readonly Call[]): Section {
  const refusals = names
    .filter((name) => errors[name][0] === status)
    .map((name) => ({ ...refusalOf(name), id: anchor(name), answeredBy: answeredBy(name, calls) }))
  return {
    id: `errors-${status}`,
    title: `${status}: ${statusNames[status] ?? 'refused'}`,
    blocks: [{ kind: 'refusals', refusals }],
    beside: [],
  }
}

function answeredBy(name: ErrorCode, calls: readonly Call[]): string {
  if (common.includes(name)) return 'every call'
  const own = calls.filter((call) => codesOf(call).includes(name))
  if (own.length === 0) return 'any path'
  return own.map(({ method, path, id }) => `[${method} ${path}](#${id})`).join(', ')
}
