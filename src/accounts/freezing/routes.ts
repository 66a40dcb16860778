import type { z } from 'zod'
import { type Endpoint, type Route, route } from '../../http/endpoint.js'
import { refuseCrossSite } from '../../http/security/cross-site.js'
import { noStore } from '../../http/security/response-headers.js'
import type { Services } from '../../services.js'
import { done, linkInput } from '../schemas.js'
import { freezeByLink } from './not-me.js'

const notMeEndpoint = {
  method: 'post',
  path: '/auth/not-me',
  summary: 'Freeze the account with the link of a mail, without signing in',
  credential: 'none',
  limit: 'reads',
  input: linkInput,
  invalid: 'link_token_required',
  output: done,
  errors: ['invalid_link', 'forbidden'],
} as const satisfies Endpoint<z.ZodType, z.ZodType>

/** `/auth/not-me`. */
export function freezingRoutes(services: Pick<Services, 'config' | 'transact' | 'log'>): Route[] {
  return [
    route(
      notMeEndpoint,
      async ({ token }) => {
        await freezeByLink(services, token)
        return {}
      },
      [noStore, refuseCrossSite(services.config.http.publicUrl)],
    ),
  ]
}
