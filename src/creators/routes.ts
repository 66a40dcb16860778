import { signedIn } from '../accounts/sessions/auth.js'
import { whileOpen } from '../accounts/sessions/while-open.js'
import { type Route, route } from '../http/endpoint.js'
import { readCaller } from '../http/security/caller.js'
import type { Services } from '../services.js'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.js'
import * as endpoints from './endpoints.js'
import { createChallenge } from './link-domain.js'
import { changeProfile, readProfile } from './profile.js'
import { listSites, replaceSites } from './sites.js'

type Needs = Pick<Services, 'config' | 'db' | 'names' | 'transact'>

/** `/creators/*`: profile, API keys, sites. app.ts applies the session guard of these paths before routing. */
export function creatorRoutes(services: Needs): Route[] {
  return [...profileRoutes(services), ...keyRoutes(services), ...siteRoutes(services)]
}

function profileRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(endpoints.profileEndpoint, (_, ctx) => readProfile(services, signedIn(ctx).account.id)),
    route(endpoints.changeProfileEndpoint, async (change, ctx) => {
      const { account } = signedIn(ctx)
      const caller = readCaller(ctx, publicUrl)
      await changeProfile(whileOpen(services, signedIn(ctx)), account, change, caller)
      return readProfile(services, account.id)
    }),
    route(endpoints.challengeEndpoint, async ({ solDomain }, ctx) => ({
      message: await createChallenge(services, signedIn(ctx).account.id, solDomain),
    })),
  ]
}

function keyRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(endpoints.createKeyEndpoint, async ({ label }, ctx) => {
      const created = await createApiKey(
        whileOpen(services, signedIn(ctx)),
        signedIn(ctx).account.id,
        label,
        readCaller(ctx, publicUrl),
      )
      return { ...created, createdAt: created.createdAt.toISOString() }
    }),
    route(endpoints.listKeysEndpoint, async (_, ctx) => {
      const keys = await listApiKeys(services, signedIn(ctx).account.id)
      return {
        apiKeys: keys.map((key) => ({
          ...key,
          createdAt: key.createdAt.toISOString(),
          lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
        })),
      }
    }),
    route(endpoints.revokeKeyEndpoint, async ({ id }, ctx) => {
      await revokeApiKey(whileOpen(services, signedIn(ctx)), signedIn(ctx).account.id, id)
      return {}
    }),
  ]
}

function siteRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(endpoints.sitesEndpoint, async (_, ctx) => ({
      domains: await listSites(services.db, signedIn(ctx).account.id),
    })),
    route(endpoints.replaceSitesEndpoint, async ({ domains }, ctx) => {
      const owner = signedIn(ctx)
      await replaceSites(whileOpen(services, owner), owner.account.id, domains, readCaller(ctx, publicUrl))
      return { domains }
    }),
  ]
}
