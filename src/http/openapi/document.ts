import { serviceName } from '../../kernel/brand.js'
import type { LimitName } from '../../platform/rate-limits/rate-limits.js'
import type { Route } from '../endpoint.js'
import { type Json, limitNameOf, type OperationTexts, operation, pathParameter } from './operation.js'

const text: Json = { type: 'string' }
const whole: Json = { type: 'integer' }
/** Every answer may have these. */
const headers: Record<string, Json> = {
  'X-Request-Id': { description: 'Names the request in our logs: quote it when you ask us', schema: text },
  'X-RateLimit-Limit': { description: 'Requests in a window', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left in this window', schema: whole },
  'X-RateLimit-Reset': { description: 'When the window ends, in seconds since 1970', schema: whole },
  'RateLimit-Policy': {
    description: 'The limits that count this call: name, requests `q` in a window of `w` seconds',
    schema: text,
    example: '"intents";q=60;w=60',
  },
  RateLimit: {
    description: 'Of each of them: requests left `r`, and seconds `t` until the window ends',
    schema: text,
    example: '"intents";r=59;t=12',
  },
  ETag: {
    description:
      'Only there when the answer may be stored. Send it as `If-None-Match`: 304 says that nothing has changed',
    schema: text,
  },
  'Retry-After': { description: 'Seconds to wait before the next request', schema: whole },
  'Idempotency-Hit': { description: '`true` when the answer is that of an earlier request', schema: text },
}

export interface DocumentOptions {
  readonly publicUrl: string
  readonly cookieName: string
  readonly mode: 'live' | 'test'
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** `key`: method and path, such as `get /auth/me`. */
  readonly describe: (key: string, limit: LimitName) => OperationTexts
}

// Not zod-openapi (6.0): it does a sixth of what this folder does, forbids additional fields in answers, which may get new ones,
// and cannot tell the path's fields from the others in an input with a refinement.

/**
 * Makes the OpenAPI 3.1 document of the routes from the schemas that parse their requests. All schemas stand where they are
 * used; `withComponents` names them.
 */
export function openApiDocument(routes: readonly Route[], options: DocumentOptions): Json {
  const { publicUrl, cookieName, mode, tags, describe } = options
  const paths: Record<string, Json> = {}
  const usedTags = new Set<string>()
  for (const { endpoint } of routes) {
    const path = endpoint.path.replaceAll(pathParameter, '{$1}')
    const texts = describe(`${endpoint.method} ${path}`, limitNameOf(endpoint))
    for (const tag of texts.tags) usedTags.add(tag)
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint, texts) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${serviceName} API`,
      version: '1',
      description: `Supporters tip creators in crypto or naira; creators withdraw to Nigerian banks. The manual: ${publicUrl}/docs`,
      contact: { name: serviceName, url: `${publicUrl}/docs` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.filter(({ name }) => usedTags.has(name)),
    paths,
    components: {
      headers,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: 'Set by register, login and one-time code; a browser sends it by itself',
        },
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'at_...',
          description:
            '`Authorization: Bearer at_3vKQm0c7YdYw1yJ2hJm8Zq...`, the `auth.accessToken` of a login',
        },
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: `tk_${mode}_...`,
          description: `\`Authorization: Bearer tk_${mode}_7c921cdc9c0b0fd3_9mTq2Vw0yJ2h...\`, for a backend only`,
        },
        sdkSession: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'sdk_sess_<uuid>',
          description:
            '`Authorization: Bearer sdk_sess_0d9e4c1b-7a52-4f3e-8c66-1b2a3c4d5e6f`, the `sessionToken` of POST /sdk/init',
        },
      },
    },
  }
}
