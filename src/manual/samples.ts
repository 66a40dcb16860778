import { exampleOf, noteOf } from './fields.js'
import { sampleText } from './markdown.js'
import type { Call } from './read-openapi.js'
import { callTexts } from './texts.js'

type Credential = 'none' | 'session' | 'accessToken' | 'apiKey' | 'sdkSession'

/** The bearer token in the samples. A session is a cookie, which needs no header. */
const bearers: Readonly<Partial<Record<Credential, string>>> = {
  accessToken: '<ACCESS_TOKEN>',
  apiKey: '<API_KEY>',
  sdkSession: '<SESSION_TOKEN>',
}
/** These calls set the session cookie. */
const opensSession = /^\/auth\/(register|login|otp\/verify)$/
const cookieJar = 'jar.txt'
/** A body up to this length is written on one line. */
const lineLength = 64

/** The samples of a call: the request as curl and as TypeScript, and the answer. */
export function samplesOf(call: Call, base: string): string[] {
  const client = callTexts.get(call.key)?.sample
  return [
    sampleText('sh', 'Request', curl(call, base)),
    client === undefined
      ? sampleText('ts folded', 'TypeScript', fetchSample(call, base))
      : sampleText('ts folded', 'TypeScript, with the client', client),
    answerSample(call),
  ]
}

function credentialOf({ operation }: Call): Credential {
  const names = operation.security.map((requirement) => Object.keys(requirement)[0] as Credential)
  return names.at(-1) ?? 'none'
}

function addressOf(call: Call, base: string): string {
  const [inPath, inQuery] = ['path', 'query'].map((place) =>
    (call.operation.parameters ?? []).filter((parameter) => parameter.in === place),
  )
  const path = (inPath ?? []).reduce(
    (address, { name }) => address.replace(`{${name}}`, encodeURIComponent(sampleValue(call, name))),
    call.path,
  )
  const shown = (inQuery ?? []).filter(
    ({ name, required }) => required || noteOf({ call, direction: '>', name }).omit !== true,
  )
  const query = shown.map(({ name }) => `${name}=${encodeURIComponent(sampleValue(call, name))}`).join('&')
  return `${base}${path}${query === '' ? '' : `?${query}`}`
}

function sampleValue(call: Call, name: string): string {
  return String(noteOf({ call, direction: '>', name }).example ?? `<${name}>`)
}

function headersOf(call: Call): [name: string, value: string][] {
  const bearer = bearers[credentialOf(call)]
  const headerParameters = (call.operation.parameters ?? []).filter((parameter) => parameter.in === 'header')
  return [
    ...(bearer === undefined ? [] : [['Authorization', `Bearer ${bearer}`] as [string, string]]),
    ...(call.body === undefined ? [] : [['Content-Type', 'application/json'] as [string, string]]),
    ...headerParameters.map(({ name }): [string, string] => [name, sampleValue(call, name)]),
  ]
}

function bodyOf(call: Call): string | undefined {
  if (call.body === undefined) return undefined
  const value = exampleOf(call, '>', call.body) ?? {}
  const line = JSON.stringify(value)
  return line.length <= lineLength ? line : JSON.stringify(value, null, 2)
}

function curl(call: Call, base: string): string {
  const body = bodyOf(call)
  const jar = [
    ...(credentialOf(call) === 'session' ? [`-b ${cookieJar}`] : []),
    ...(opensSession.test(call.path) ? [`-c ${cookieJar}`] : []),
    ...(call.answer.type === 'text/event-stream' ? ['-N'] : []),
  ]
  const method = call.method === 'GET' || call.method === 'POST' ? [] : [`-X ${call.method}`]
  const post = call.method === 'POST' && body === undefined ? ['-X POST'] : []
  return [
    ['curl -s', ...jar, ...method, ...post, quoted(addressOf(call, base))].join(' '),
    ...headersOf(call).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ')
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function fetchSample(call: Call, base: string): string {
  const body = bodyOf(call)
  const headers = headersOf(call).map(([name, value]) => `    '${name}': '${value}',`)
  const options = [
    ...(call.method === 'GET' ? [] : [`  method: '${call.method}',`]),
    ...(credentialOf(call) === 'session' ? [`  credentials: 'same-origin', // the session is a cookie`] : []),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),`]),
  ]
  const address = `'${addressOf(call, base)}'`
  const request =
    options.length === 0 ? `fetch(${address})` : `fetch(${address}, {\n${options.join('\n')}\n})`
  return `const response = await ${request}\nconst answer = await response.json()`
}

function answerSample(call: Call): string {
  const { type, schema } = call.answer
  if (type !== 'text/event-stream')
    return sampleText('json', 'Answer 200', JSON.stringify(exampleOf(call, '<', schema), null, 2))
  const events = (schema.anyOf ?? []).map((variant) => JSON.stringify(exampleOf(call, '<', variant)))
  const [connected = '', tip = ''] = events
  const text = `retry: 10000\n\nid: 1795253410120\ndata: ${connected}\n\n:\n\nid: 1795253415250\ndata: ${tip}\n`
  return sampleText('text', 'Answer 200, text/event-stream', text)
}
