import { done, nothing } from '../accounts/schemas.js'
import { signedIn, whileOpen } from '../accounts/sessions/auth.js'
import { type Route, route } from '../http/endpoint.js'
import { readCaller } from '../http/security/caller.js'
import type { Services } from '../services.js'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.js'
import { createChallenge } from './link-domain.js'
import { changeProfile, readProfile } from './profile.js'
import * as schemas from './schemas.js'
import { listSites, replaceSites } from './sites.js'

type Needs = Pick<Services, 'config' | 'db' | 'names' | 'transact'>

/** `/creators/*`: profile, API keys, sites. app.ts applies the session guard of these paths before routing. */
export function creatorRoutes(services: Needs): Route[] {
  return [...profileRoutes(services), ...keyRoutes(services), ...siteRoutes(services)]
}

function profileRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(
      {
        method: 'get',
        path: '/creators/me',
        summary: 'The own creator profile with its settings',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.profileAnswer,
        errors: [],
      },
      (_, ctx) => readProfile(services, signedIn(ctx).account.id),
    ),
    route(
      {
        method: 'patch',
        path: '/creators/me',
        summary: 'Change name, settings (merged key by key) or the linked .sol domain',
        credential: 'session',
        limit: 'intents',
        input: schemas.profileChange,
        invalid: 'invalid_json',
        output: schemas.profileAnswer,
        errors: [
          'invalid_settings',
          'invalid_name',
          'invalid_domain',
          'domain_not_yours',
          'payout_wallet_required',
          'step_up_required',
          'invalid_code',
          'account_locked',
          'unauthorized',
          'forbidden',
          'account_frozen',
        ],
      },
      async (change, ctx) => {
        const { account } = signedIn(ctx)
        const caller = readCaller(ctx, publicUrl)
        await changeProfile(whileOpen(services, signedIn(ctx)), account, change, caller)
        return readProfile(services, account.id)
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/domain-challenge',
        summary: 'The message the owner of a .sol domain signs to link it',
        credential: 'session',
        limit: 'intents',
        input: schemas.challengeInput,
        invalid: 'invalid_domain',
        output: schemas.challengeAnswer,
        errors: ['unauthorized', 'forbidden', 'account_frozen'],
      },
      async ({ solDomain }, ctx) => ({
        message: await createChallenge(services, signedIn(ctx).account.id, solDomain),
      }),
    ),
  ]
}

function keyRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(
      {
        method: 'post',
        path: '/creators/api-keys',
        summary: 'Make an API key; it is shown this once',
        credential: 'session',
        limit: 'intents',
        input: schemas.newKeyInput,
        invalid: 'invalid_json',
        output: schemas.newKeyAnswer,
        errors: ['invalid_label', 'too_many_api_keys', 'unauthorized', 'forbidden', 'account_frozen'],
      },
      async ({ label }, ctx) => {
        const created = await createApiKey(
          whileOpen(services, signedIn(ctx)),
          signedIn(ctx).account.id,
          label,
          readCaller(ctx, publicUrl),
        )
        return { ...created, createdAt: created.createdAt.toISOString() }
      },
    ),
    route(
      {
        method: 'get',
        path: '/creators/api-keys',
        summary: 'The open API keys, newest first',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.keysAnswer,
        errors: [],
      },
      async (_, ctx) => {
        const keys = await listApiKeys(services, signedIn(ctx).account.id)
        return {
          apiKeys: keys.map((key) => ({
            ...key,
            createdAt: key.createdAt.toISOString(),
            lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
          })),
        }
      },
    ),
    route(
      {
        method: 'delete',
        path: '/creators/api-keys/:id',
        summary: 'End an API key at once',
        credential: 'session',
        limit: 'intents',
        input: schemas.keyInput,
        invalid: 'api_key_not_found',
        output: done,
        errors: ['unauthorized', 'forbidden'],
      },
      async ({ id }, ctx) => {
        await revokeApiKey(whileOpen(services, signedIn(ctx)), signedIn(ctx).account.id, id)
        return {}
      },
    ),
  ]
}

function siteRoutes(services: Needs): Route[] {
  const { publicUrl } = services.config.http
  return [
    route(
      {
        method: 'get',
        path: '/creators/domains',
        summary: 'The sites embeds may live on',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.sitesAnswer,
        errors: [],
      },
      async (_, ctx) => ({
        domains: await listSites(services.db, signedIn(ctx).account.id),
      }),
    ),
    route(
      {
        method: 'put',
        path: '/creators/domains',
        summary: 'Replace the list of sites embeds may live on',
        credential: 'session',
        limit: 'intents',
        input: schemas.sitesInput,
        invalid: 'invalid_domain',
        output: schemas.sitesAnswer,
        errors: ['unauthorized', 'forbidden', 'account_frozen'],
      },
      async ({ domains }, ctx) => {
        const owner = signedIn(ctx)
        await replaceSites(whileOpen(services, owner), owner.account.id, domains, readCaller(ctx, publicUrl))
        return { domains }
      },
    ),
  ]
}
