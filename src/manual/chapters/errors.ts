import { codesWithProviderText, type ErrorCode, errors } from '../../kernel/errors.js'
import { type Block, type Chapter, code, list, type Refusal, type Section, text } from '../blocks.js'
import { causesByCall, errorGuide } from '../content/error-guide.js'
import { type Call, codesOf } from '../read-openapi.js'

/** Every call may answer these, so only the chapter of errors describes them. */
const common: readonly string[] = ['too_many_requests', 'internal_error', 'service_unavailable']

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errors, code)
const anchor = (name: string): string => `error-${name}`

/** The exact `error` text, or a note that it quotes the provider. */
function exactText(name: ErrorCode): string {
  return codesWithProviderText.has(name) ? "the provider's own text" : `\`${errors[name][1]}\``
}

/** The refusals of one call. */
export function errorsOf(call: Call): Block[] {
  const own = codesOf(call).filter((name) => isKnown(name) && !common.includes(name)) as ErrorCode[]
  const refusals = own.map((name): Refusal => {
    const cause = causesByCall[call.key]?.[name]
    return { ...refusalOf(name), ...(cause === undefined ? {} : { cause }) }
  })
  const linked = common.map((name) => `[${name}](#${anchor(name)})`).join(', ')
  const rest = text(`${own.length === 0 ? 'It may answer' : 'Also, like every call:'} ${linked}.`)
  return own.length === 0 ? [rest] : [{ kind: 'refusals', refusals }, rest]
}

function refusalOf(name: ErrorCode): Refusal {
  const [status] = errors[name]
  return { href: `#${anchor(name)}`, status, code: name, error: exactText(name), ...errorGuide[name] }
}

/** The chapter with every refusal. */
export function errorsChapter(calls: readonly Call[]): Chapter {
  const names = Object.keys(errors) as ErrorCode[]
  const statuses = [...new Set(names.map((name) => errors[name][0]))].sort((a, b) => a - b)
  return {
    id: 'errors',
    title: 'Errors',
    blocks: [
      text(
        'A refusal has a status that is not 200 and a body of one shape. Codes and texts do not change: branch on `code` and show `error`. Keep `requestId`: with it we find the request in our logs. It is also in the `X-Request-Id` header of every answer.',
      ),
      text(
        'A 400 or 422 also has `details`: the fields that are wrong and, for people, what is wrong with each, limits with their values. `field` is the name in the body, the query or the header, and `body` for a body that could not be read. The wording of `problem` may change.',
      ),
      text(
        'Never treat a timeout as a refusal. Repeat with the same `Idempotency-Key` where a call takes one, or read the current state.',
      ),
      list(
        '**400, 403, 404, 422**: the same request will fail again. Correct it first.',
        '**401**: get a new credential.',
        '**409, 429, 500, 503**: temporary. Repeat with growing pauses; `Retry-After` says how long, if it is known. **502** is final for this request: the provider refused it.',
      ),
    ],
    samples: [
      code('json', 'A refusal', JSON.stringify(example, null, 2)),
      code('ts', 'With the client', ...clientLines),
    ],
    sections: statuses.map((status) => statusSection(status, names, calls)),
  }
}

const example = {
  success: false,
  error: 'Invalid amount',
  code: 'invalid_amount',
  requestId: '0b9e7f5a-1c2d-4e3f-8a6b-7c8d9e0f1a2b',
  details: [{ field: 'amount', problem: 'must be from 0.01 to 10000 USD' }],
}
const clientLines = [
  "import { TippingError } from 'tipping-client'",
  '',
  'try {',
  '  await backend.init({ creatorId, originUrl })',
  '} catch (error) {',
  '  if (!(error instanceof TippingError)) throw error',
  '  if (error.temporary) await again()',
  '  else report(error.code, error.details, error.requestId)',
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

function statusSection(status: number, names: readonly ErrorCode[], calls: readonly Call[]): Section {
  const refusals = names
    .filter((name) => errors[name][0] === status)
    .map((name) => ({ ...refusalOf(name), id: anchor(name), answeredBy: answeredBy(name, calls) }))
  return {
    id: `errors-${status}`,
    title: `${status}: ${statusNames[status] ?? 'refused'}`,
    blocks: [{ kind: 'refusals', refusals }],
    samples: [],
  }
}

function answeredBy(name: ErrorCode, calls: readonly Call[]): string {
  if (common.includes(name)) return 'every call'
  const own = calls.filter((call) => codesOf(call).includes(name))
  if (own.length === 0) return 'any path'
  return own.map(({ method, path, id }) => `[${method} ${path}](#${id})`).join(', ')
}
