import Router from '@koa/router'
import type { Middleware, Next } from 'koa'
import { refuseWhileStopped, type Switches } from '../platform/database/switches/switch-watch.js'
import type { SwitchName } from '../platform/database/switches/switches.js'
import type { RateLimits } from '../platform/rate-limits/rate-limits.js'
import type { CheckLimit, Route } from './endpoint.js'
import { finishRead } from './finish-read.js'
import {
  addressLimit,
  type KeyedLimit,
  limitByAddress,
  limitByKey,
  limitOpenStreams,
} from './limits/rate-limits.js'

/** The middleware of the mounted routes, and its routers, for tests. */
type Mounted = Middleware & { readonly routers: readonly Router[] }

/**
 * Mounts the routes with their limits. A limit per client address runs first, before the credentials are checked. A limit by key
 * needs the credentials and the parsed request, so it runs just before the handler.
 *
 * A router compares a request with each of its routes. So there is one for each first part of a path, and none has many. A path
 * without parameters, as it is written here, needs none.
 */
export function mount(routes: readonly Route[], limits: RateLimits, switches: Switches): Mounted {
  const routers = new Map<string, Router>()
  const direct = new Map<string, Middleware>()
  const streamLimit = limitOpenStreams(limits.openStreams)
  for (const { endpoint, guards, serve } of routes) {
    const { method, path, limit, stream, list, pausedBy } = endpoint
    const perAddress = addressLimit(limit)
    const checkLimit = typeof limit === 'string' ? undefined : keyedCheck(limit, limits)
    const router = routers.get(firstPart(path)) ?? new Router()
    routers.set(firstPart(path), router)
    const middleware: Middleware[] = [
      ...(perAddress === undefined ? [] : [limitByAddress(limits.of(perAddress))]),
      ...(pausedBy === undefined ? [] : [checkSwitches(switches, pausedBy)]),
      ...(stream === true ? [streamLimit] : []),
      ...guards,
      method === 'get' && stream !== true
        ? async (ctx) => {
            await serve(ctx, checkLimit)
            await finishRead(ctx, list === true)
          }
        : (ctx) => serve(ctx, checkLimit),
    ]
    router[method](path, ...middleware)
    if (!path.includes(':')) direct.set(`${method.toUpperCase()} ${path}`, matched(path, chain(middleware)))
  }
  const byFirstPart = new Map([...routers].map(([part, router]) => [part, router.routes() as Middleware]))
  const serveByFirstPart: Middleware = (ctx, next) => {
    const serve = direct.get(`${ctx.method} ${ctx.path}`) ?? byFirstPart.get(firstPart(ctx.path))
    return serve === undefined ? next() : serve(ctx, next)
  }
  return Object.assign(serveByFirstPart, { routers: [...routers.values()] })
}

/** One middleware that runs these. */
export function chain(middleware: readonly Middleware[]): Middleware {
  return (ctx, next) => middleware.reduceRight<Next>((rest, one) => () => one(ctx, rest), next)()
}

/** Names the route for the metric of requests, as a router does. */
function matched(path: string, serve: Middleware): Middleware {
  return (ctx, next) => {
    ctx['_matchedRoute'] = path
    return serve(ctx, next)
  }
}

/** In lower case, because the router ignores case. */
function firstPart(path: string): string {
  return (path.split('/', 2)[1] ?? '').toLowerCase()
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
