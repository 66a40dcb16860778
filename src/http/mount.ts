import Router from '@koa/router'
import type { Middleware } from 'koa'
import { refuseWhileStopped, type Switches } from '../platform/database/switches/switch-watch.js'
import type { SwitchName } from '../platform/database/switches/switches.js'
import type { RateLimits } from '../platform/rate-limits/rate-limits.js'
import type { CheckLimit, Route } from './endpoint.js'
import {
  addressLimit,
  type KeyedLimit,
  limitByAddress,
  limitByKey,
  limitOpenStreams,
} from './limits/rate-limits.js'

/**
 * Mounts the routes with their limits on a router. A limit per client address runs first, before the credentials are
 * checked. A limit by key needs the credentials and the parsed request, so it runs just before the handler.
 */
export function mount(routes: readonly Route[], limits: RateLimits, switches: Switches): Router {
  const router = new Router()
  const streamLimit = limitOpenStreams(limits.openStreams)
  for (const { endpoint, guards, serve } of routes) {
    const { method, path, limit, stream, pausedBy } = endpoint
    const perAddress = addressLimit(limit)
    const checkLimit = typeof limit === 'string' ? undefined : keyedCheck(limit, limits)
    router[method](
      path,
      ...(perAddress === undefined ? [] : [limitByAddress(limits.of(perAddress))]),
      ...(pausedBy === undefined ? [] : [checkSwitches(switches, pausedBy)]),
      ...(stream === true ? [streamLimit] : []),
      ...guards,
      (ctx) => serve(ctx, checkLimit),
    )
  }
  return router
}

function checkSwitches(switches: Switches, names: readonly SwitchName[]): Middleware {
  return (_, next) => {
    refuseWhileStopped(switches, names)
    return next()
  }
}

function keyedCheck(keyed: KeyedLimit<unknown>, limits: RateLimits): CheckLimit | undefined {
  const limit = limits.of(keyed.name)
  if (limit === undefined) return undefined
  return (input, ctx) => limitByKey(limit, keyed.key(input, ctx), ctx)
}
