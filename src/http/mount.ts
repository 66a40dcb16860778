import Router from '@koa/router'
import type { RateLimits } from '../platform/rate-limits/rate-limits.js'
import type { Admit, Route } from './endpoint.js'
import { addressLimit, type KeyedLimit, limitByAddress, limitByKey, limitOpenStreams } from './limits.js'

/**
 * A router of the routes, each behind its limit. Limits per address come first of all, before credentials are
 * looked at; limits by a key need the credentials and the parsed request, and come right before the operation.
 */
export function mount(routes: readonly Route[], limits: RateLimits): Router {
  const router = new Router()
  const streamPlaces = limitOpenStreams(limits.openStreams)
  for (const { endpoint, guards, serve } of routes) {
    const { method, path, limit, stream } = endpoint
    const perAddress = addressLimit(limit)
    const admit = typeof limit === 'string' ? undefined : admitByKey(limit, limits)
    router[method](
      path,
      ...(perAddress === undefined ? [] : [limitByAddress(limits.of(perAddress))]),
      ...(stream === true ? [streamPlaces] : []),
      ...guards,
      (ctx) => serve(ctx, admit),
    )
  }
  return router
}

function admitByKey(keyed: KeyedLimit<unknown>, limits: RateLimits): Admit | undefined {
  const limit = limits.of(keyed.name)
  if (limit === undefined) return undefined
  return (input, ctx) => limitByKey(limit, keyed.key(input, ctx), ctx)
}
