import { userId } from './examples.js'
import type { FieldNotes } from './field-note.js'

const credentialId = 'Jk3v0a9XQ2mZr8tYbL5cWg'
const clientData = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoicFowIn0'

export const agedPasskey =
  'The answer of a passkey that was added at least 72 hours ago, to the options of `POST /auth/passkeys/confirm/options`.'
/** A second factor where only an old one counts. */
export const agedTotpField = {
  note: 'A code of an authenticator app that was confirmed at least 72 hours ago; no recovery code.',
  example: '428193',
  omit: true,
}
/** The code of a step-up. */
export const stepUpCodeField = {
  note: 'Six digits from the mail that answered this same request without it.',
  example: '428193',
  omit: true,
}
export const agedPasskeyField = {
  note: agedPasskey,
  example: {},
  omit: true,
}

/** Fields of second factors: authenticator apps, recovery codes, passkeys. */
export const factorsFields: FieldNotes = {
  totp: {
    note: 'A code of the authenticator app, or a recovery code. Only for accounts with a second factor.',
    example: '305871',
    omit: true,
  },
  'delete /auth/totp > totp': { omit: false },
  'post /auth/recovery-codes > totp': { omit: false },
  'delete /auth/passkeys/{id} > totp': { omit: false },
  'post /auth/totp/confirm > code': { note: 'The six digits that the app shows.', example: '305871' },
  passkey: {
    note: 'What `navigator.credentials.get` gave for the options of `POST /auth/passkeys/confirm/options`, as JSON.',
    omit: true,
  },
  secret: {
    note: 'Base32, for an app that cannot read the QR code. Shown this once.',
    example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  },
  uri: {
    note: 'For a QR code.',
    example:
      'otpauth://totp/Tips:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Tips&algorithm=SHA1&digits=6&period=30',
  },
  recoveryCodes: {
    note: 'Ten; each replaces a code of the app once. Shown this once. Absent when the account had a factor before.',
    example: ['k7tqm3-w8zxcv-b5nmas-dfghjk', 'p2rtyu-9wertz-h4jkmn-cvbnma'],
  },
  'post /auth/recovery-codes < recoveryCodes': {
    note: 'Ten; each replaces a code of the app once. Shown this once.',
  },
  'get /auth/passkeys < passkeys': { note: 'Oldest first.' },
  'passkeys[].label': { note: 'As its owner named it.', example: 'Phone' },
  'passkeys[].lastUsedAt': { note: 'Null until it was used.', example: null },
  'passkey.label': { note: 'As its owner named it.', example: 'Phone' },
  'passkey.lastUsedAt': { note: 'Null until it was used.', example: null },
  'post /auth/passkeys > label': { note: 'Default `Passkey`.', example: 'Phone' },
  'post /auth/passkeys > response': {
    note: 'What `navigator.credentials.create` gave, as its `toJSON()`. Further fields are ignored.',
  },
  'post /auth/passkeys/login > response': {
    note: 'What `navigator.credentials.get` gave, as its `toJSON()`. Further fields are ignored.',
  },
  'post /auth/passkeys > response.response': { note: 'What the authenticator made.' },
  'post /auth/passkeys/login > response.response': { note: 'What the authenticator signed.' },
  'passkey.response': { note: 'What the authenticator signed.' },
  'passkey.id': { note: 'UUID.', example: userId },
  'passkey.type': { note: 'The kind of credential.', example: 'public-key' },
  'response.type': { note: 'The kind of credential.', example: 'public-key' },
  'pubKeyCredParams[].type': { note: 'The kind of credential.', example: 'public-key' },
  'excludeCredentials[].type': { note: 'The kind of credential.', example: 'public-key' },
  'allowCredentials[].type': { note: 'The kind of credential.', example: 'public-key' },
  'post /auth/passkeys < passkey': { note: 'The passkey that was added.', omit: false },
  rp: { note: 'The service (WebAuthn: relying party).' },
  'options.user': { note: 'What the authenticator keeps of the account.' },
  pubKeyCredParams: { note: 'Kinds of keys that the service takes, the preferred one first.' },
  authenticatorSelection: { note: 'What the authenticator must be able to do.' },
  residentKey: { note: 'The authenticator keeps the key, so that it signs in without an e-mail.' },
  requireResidentKey: { note: 'As `residentKey`, for older browsers.' },
  userVerification: { note: 'The device asks for the PIN or the finger.' },
  attestation: { note: 'Nobody asks which device it is.' },
  hints: { note: 'Empty: any kind of authenticator.', example: [] },
  extensions: { note: 'What the browser tells beside the credential.', omit: true },
  rawId: { note: 'Same as `id`.', example: credentialId },
  'post /auth/passkeys > response.id': { note: 'Of the passkey, base64url.', example: credentialId },
  'post /auth/passkeys/login > response.id': { note: 'Of the passkey, base64url.', example: credentialId },
  clientDataJSON: { note: 'What the browser signed for, base64url.', example: clientData },
  attestationObject: {
    note: 'The new public key, base64url.',
    example: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVikSZYN5Yg',
  },
  transports: { note: 'How the browser reaches it.', example: ['internal'] },
  authenticatorData: { note: 'Base64url.', example: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ' },
  'response.signature': { note: 'Base64url.', example: 'MEUCIQDb3ZxT0Yq8wR5nL2kVb7hJ4mPfXs' },
  userHandle: { note: 'The bytes of the user id, base64url.', example: 'P2weno0bTFifDit6TVxuEA' },
  options: { note: 'JSON of WebAuthn. Valid for five minutes, once.' },
  challenge: { note: 'What the passkey signs.', example: 'pZ0aH3yXw5m1rT8uKq2vB7cD4eF6gJ9sLnQxYzAbCdE' },
  timeout: { note: 'In milliseconds.', example: 300000 },
  'rp.id': { note: 'Host name of the service.', example: 'tips.example' },
  'rp.name': { note: 'For people.', example: 'Tips' },
  rpId: { note: 'Host name of the service.', example: 'tips.example' },
  'options.user.id': { note: 'The bytes of the user id, base64url.', example: 'P2weno0bTFifDit6TVxuEA' },
  'options.user.name': { note: 'The e-mail.', example: 'ada@example.com' },
  'options.user.displayName': { note: 'The name.', example: 'Ada Obi' },
  alg: { note: 'COSE: -8 EdDSA, -7 ES256, -257 RS256.', example: -7 },
  excludeCredentials: { note: 'Passkeys that the account has.' },
  allowCredentials: { note: 'Passkeys that may answer. Absent: any.' },
  'excludeCredentials[].id': { note: 'Of the passkey, base64url.', example: credentialId },
  'allowCredentials[].id': { note: 'Of the passkey, base64url.', example: credentialId },
}
