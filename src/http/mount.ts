import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { RateLimits } from '../platform/rate-limits.js'
import { type Route, readInput } from './endpoint.js'
import { limitByAddress, limitByKey, limitOpenStreams } from './limits.js'

/**
 * A router of the routes, each behind its limit. Limits per address come first of all, before credentials are
 * looked at; limits by a key need the credentials and the parsed request, and come right before the operation.
 */
export function mount(routes: readonly Route[], limits: RateLimits): Router {
  const router = new Router()
  const streamPlaces = limitOpenStreams(limits.openStreams)
  for (const { endpoint, guards, answer } of routes) {
    const { method, path, limit } = endpoint
    const atDoor = typeof limit === 'string' ? limits.of(limit) : undefined
    router[method](
      path,
      ...(atDoor === undefined ? [] : [limitByAddress(atDoor)]),
      ...(endpoint.stream === true ? [streamPlaces] : []),
      ...guards,
      serve({ endpoint, guards, answer }, limits),
    )
  }
  return router
}

function serve({ endpoint, answer }: Route, limits: RateLimits): Middleware {
  const { limit } = endpoint
  const keyed = typeof limit === 'string' ? undefined : limits.of(limit.name)
  if (typeof limit === 'string' || keyed === undefined)
    return async (ctx) => answer(await readInput(endpoint, ctx), ctx)
  return async (ctx) => {
    const input = await readInput(endpoint, ctx)
    await limitByKey(keyed, limit.key(input, ctx), ctx)
    await answer(input, ctx)
  }
}
