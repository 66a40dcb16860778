import { type Route, route } from '../http/endpoint.js'
import { iconPath } from '../http/pages/icon.js'
import { nameRow, requestIdOf } from '../http/request-id.js'
import { noStore } from '../http/security/response-headers.js'
import type { TokenPrices } from '../market/token-prices.js'
import type { Services } from '../services.js'
import { createSdkTip } from './create-tip.js'
import * as endpoints from './endpoints.js'
import { listEvents } from './list-events.js'
import { createPayLinkTransaction, findPayLink } from './pay-link.js'
import { listSdkIntents, readSdkIntent } from './read-intent.js'
import {
  findKeyOwner,
  presentedSession,
  requireKey,
  requireOpenSession,
  requireReadableSession,
  requireTippingSession,
} from './sessions/auth.js'
import { describeSession } from './sessions/describe-session.js'
import { createHandoff, redeemHandoff } from './sessions/handoff.js'
import { initSession, renewSession } from './sessions/init-session.js'
import { meansCreator } from './sessions/match-creator.js'

/** The routes of creators' backends, with an API key. */
function backendRoutes(services: Services): Route[] {
  const { db } = services
  return [
    route(
      endpoints.initEndpoint,
      async (input, ctx) => initSession(services, await findKeyOwner(services, ctx), input),
      [noStore, requireKey],
    ),
    route(
      endpoints.eventsEndpoint,
      async ({ creatorId, ...range }, ctx) => {
        const userId = await findKeyOwner(services, ctx)
        const own = await meansCreator(services, creatorId, userId)
        return own ? listEvents(db, userId, range) : { events: [], hasMore: false }
      },
      [noStore, requireKey],
    ),
  ]
}

/** The routes of supporters' pages, with a session token. */
function pageRoutes(services: Services, prices: TokenPrices): Route[] {
  const { db } = services
  const readable = [noStore, requireReadableSession(services)]
  return [
    route(
      endpoints.tipEndpoint,
      async (input, ctx) => {
        const { session } = presentedSession(ctx)
        const answer = await createSdkTip(services, prices, session, input, requestIdOf(ctx))
        nameRow(ctx, { intent: answer.intentId })
        return answer
      },
      [noStore, requireTippingSession(services)],
    ),
    route(
      endpoints.intentEndpoint,
      ({ intentId }, ctx) => readSdkIntent(db, presentedSession(ctx).session.id, intentId),
      readable,
    ),
    route(
      endpoints.intentListEndpoint,
      async (_, ctx) => ({ intents: await listSdkIntents(db, presentedSession(ctx).session.id) }),
      readable,
    ),
    route(
      endpoints.sessionEndpoint,
      (_, ctx) => describeSession(services, presentedSession(ctx).session),
      readable,
    ),
    route(
      endpoints.renewEndpoint,
      (_, ctx) => renewSession(services, presentedSession(ctx).session),
      readable,
    ),
    route(endpoints.handoffEndpoint, (input, ctx) => createHandoff(db, presentedSession(ctx), input), [
      noStore,
      requireOpenSession(services),
    ]),
  ]
}

/** The routes of other devices and wallets, with a code. */
function codeRoutes(services: Services, prices: TokenPrices): Route[] {
  const { db, config } = services
  const icon = `${config.http.publicUrl}${iconPath}`
  return [
    route(endpoints.redeemEndpoint, ({ code }) => redeemHandoff(db, code), [noStore]),
    route(
      endpoints.payLinkEndpoint,
      async ({ code }) => ({ label: (await findPayLink(db, code)).creatorName, icon }),
      [noStore],
    ),
    route(
      endpoints.payEndpoint,
      (input, ctx) => createPayLinkTransaction(services, prices, input, requestIdOf(ctx)),
      [noStore],
    ),
  ]
}

/** `/sdk/*` and `/pay/*`: the routes for creators' backends, embedded pages and supporters' wallets. */
export function sdkRoutes(services: Services, prices: TokenPrices): Route[] {
  return [...backendRoutes(services), ...pageRoutes(services, prices), ...codeRoutes(services, prices)]
}
