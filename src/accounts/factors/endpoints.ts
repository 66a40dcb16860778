import type { ErrorCode } from '../../kernel/errors.js'
import { type AnyEndpoint, done, nothing, otpVerifyAnswer } from '../schemas.js'
import * as passkeys from './passkeys/passkey-schemas.js'
import * as schemas from './schemas.js'

const owner = { credential: 'session', limit: 'intents' } as const
const ownerErrors = ['unauthorized', 'forbidden', 'account_frozen'] as const satisfies ErrorCode[]
/** Of a call that takes a factor or a young session. */
const freshErrors = [
  ...ownerErrors,
  'reauthentication_required',
  'account_locked',
] as const satisfies ErrorCode[]
/** Of a call that takes a factor only. */
const factorErrors = [
  ...ownerErrors,
  'second_factor_required',
  'account_locked',
] as const satisfies ErrorCode[]

export const startTotpEndpoint = {
  ...owner,
  method: 'post',
  path: '/auth/totp',
  summary: 'Make the secret of an authenticator app',
  input: schemas.factorInput,
  invalid: 'invalid_code',
  output: schemas.totpAnswer,
  errors: ['totp_exists', ...freshErrors],
} as const satisfies AnyEndpoint

export const confirmTotpEndpoint = {
  ...owner,
  method: 'post',
  path: '/auth/totp/confirm',
  summary: 'Put the authenticator app in force with its first code',
  input: schemas.confirmTotpInput,
  invalid: 'invalid_code',
  output: schemas.totpConfirmed,
  errors: [...ownerErrors, 'account_locked'],
} as const satisfies AnyEndpoint

export const removeTotpEndpoint = {
  ...owner,
  method: 'delete',
  path: '/auth/totp',
  summary: 'Remove the authenticator app',
  input: schemas.factorInput,
  bodyOfDelete: true,
  invalid: 'invalid_code',
  output: done,
  errors: ['factor_not_found', ...factorErrors],
} as const satisfies AnyEndpoint

export const recoveryCodesEndpoint = {
  ...owner,
  method: 'post',
  path: '/auth/recovery-codes',
  summary: 'Make ten recovery codes in place of the earlier ones; they are shown this once',
  input: schemas.factorInput,
  invalid: 'invalid_code',
  output: schemas.recoveryCodesAnswer,
  errors: ['factor_not_found', ...factorErrors],
} as const satisfies AnyEndpoint

export const creationOptionsEndpoint = {
  ...owner,
  method: 'post',
  path: '/auth/passkeys/options',
  summary: 'The options with which a browser makes a passkey',
  input: schemas.factorInput,
  invalid: 'invalid_code',
  output: passkeys.creationOptionsAnswer,
  errors: [...freshErrors],
} as const satisfies AnyEndpoint

export const addPasskeyEndpoint = {
  ...owner,
  method: 'post',
  path: '/auth/passkeys',
  summary: 'Add the passkey that the browser made',
  input: passkeys.newPasskeyInput,
  invalid: 'invalid_passkey',
  output: passkeys.passkeyAdded,
  errors: ['invalid_label', 'passkey_exists', 'too_many_passkeys', ...ownerErrors],
} as const satisfies AnyEndpoint

export const listPasskeysEndpoint = {
  ...owner,
  method: 'get',
  path: '/auth/passkeys',
  summary: 'The own passkeys, oldest first',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  output: passkeys.passkeysAnswer,
  errors: [],
} as const satisfies AnyEndpoint

export const removePasskeyEndpoint = {
  ...owner,
  method: 'delete',
  path: '/auth/passkeys/:id',
  summary: 'Remove a passkey',
  input: schemas.removePasskeyInput,
  bodyOfDelete: true,
  invalid: 'invalid_code',
  output: done,
  errors: ['factor_not_found', ...factorErrors],
} as const satisfies AnyEndpoint

export const confirmOptionsEndpoint = {
  ...owner,
  method: 'post',
  path: '/auth/passkeys/confirm/options',
  summary: 'The options with which one of the own passkeys confirms a change or a withdrawal',
  input: nothing,
  invalid: 'invalid_json',
  output: passkeys.requestOptionsAnswer,
  errors: ['factor_not_found', ...ownerErrors],
} as const satisfies AnyEndpoint

export const loginOptionsEndpoint = {
  method: 'post',
  path: '/auth/passkeys/login/options',
  summary: 'The options with which a passkey logs in; they name no account',
  credential: 'none',
  limit: 'signInAddress',
  input: nothing,
  invalid: 'invalid_json',
  output: passkeys.requestOptionsAnswer,
  errors: ['forbidden'],
} as const satisfies AnyEndpoint

export const passkeyLoginEndpoint = {
  method: 'post',
  path: '/auth/passkeys/login',
  summary: 'Open a session with a passkey alone',
  credential: 'none',
  limit: 'signInAddress',
  input: passkeys.passkeyLoginInput,
  invalid: 'invalid_passkey',
  output: otpVerifyAnswer,
  errors: ['forbidden'],
} as const satisfies AnyEndpoint
