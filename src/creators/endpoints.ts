import { type AnyEndpoint, done, nothing } from '../accounts/schemas.js'
import * as schemas from './schemas.js'

// The session guard in app.ts counts every request as a read. Changes also count against the `intents` limit, because
// they write rows or query the chain.

export const profileEndpoint = {
  method: 'get',
  path: '/creators/me',
  summary: 'The own creator profile with its settings',
  credential: 'session',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: schemas.profileAnswer,
  errors: [],
} as const satisfies AnyEndpoint

export const changeProfileEndpoint = {
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
} as const satisfies AnyEndpoint

export const challengeEndpoint = {
  method: 'post',
  path: '/creators/domain-challenge',
  summary: 'The message the owner of a .sol domain signs to link it',
  credential: 'session',
  limit: 'intents',
  input: schemas.challengeInput,
  invalid: 'invalid_domain',
  output: schemas.challengeAnswer,
  errors: ['unauthorized', 'forbidden', 'account_frozen'],
} as const satisfies AnyEndpoint

export const createKeyEndpoint = {
  method: 'post',
  path: '/creators/api-keys',
  summary: 'Make an API key; it is shown this once',
  credential: 'session',
  limit: 'intents',
  input: schemas.newKeyInput,
  invalid: 'invalid_json',
  output: schemas.newKeyAnswer,
  errors: ['invalid_label', 'too_many_api_keys', 'unauthorized', 'forbidden', 'account_frozen'],
} as const satisfies AnyEndpoint

export const listKeysEndpoint = {
  method: 'get',
  path: '/creators/api-keys',
  summary: 'The open API keys, newest first',
  credential: 'session',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: schemas.keysAnswer,
  errors: [],
} as const satisfies AnyEndpoint

export const revokeKeyEndpoint = {
  method: 'delete',
  path: '/creators/api-keys/:id',
  summary: 'End an API key at once',
  credential: 'session',
  limit: 'intents',
  input: schemas.keyInput,
  invalid: 'api_key_not_found',
  output: done,
  errors: ['unauthorized', 'forbidden', 'account_frozen'],
} as const satisfies AnyEndpoint

export const sitesEndpoint = {
  method: 'get',
  path: '/creators/domains',
  summary: 'The sites embeds may live on',
  credential: 'session',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: schemas.sitesAnswer,
  errors: [],
} as const satisfies AnyEndpoint

export const replaceSitesEndpoint = {
  method: 'put',
  path: '/creators/domains',
  summary: 'Replace the list of sites embeds may live on',
  credential: 'session',
  limit: 'intents',
  input: schemas.sitesInput,
  invalid: 'invalid_domain',
  output: schemas.sitesAnswer,
  errors: ['unauthorized', 'forbidden', 'account_frozen'],
} as const satisfies AnyEndpoint
