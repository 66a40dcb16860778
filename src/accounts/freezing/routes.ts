import { type Route, route } from '../../http/endpoint.js'
import type { Services } from '../../services.js'
import { done, tokenInput } from '../schemas.js'
import { publicGuards } from '../sessions/auth.js'
import { freezeByLink } from './not-me.js'

/** `/auth/not-me`. */
export function freezingRoutes(services: Pick<Services, 'config' | 'transact' | 'log'>): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/auth/not-me',
        summary: 'Freeze the account with the link of a mail, without signing in',
        credential: 'none',
        limit: 'reads',
        input: tokenInput,
        invalid: 'link_token_required',
        output: done,
        errors: ['invalid_link', 'forbidden'],
      },
      async ({ token }) => {
        await freezeByLink(services, token)
        return {}
      },
      publicGuards(services.config.http.publicUrl),
    ),
  ]
}
