import { creatorWallet, moment } from './examples.js'
import { agedPasskey, agedPasskeyField, agedTotpField } from './factors.js'
import type { FieldNotes } from './field-note.js'

/** Fields of accounts: sign-in, sessions, passwords, e-mail, the account’s data. */
export const accountsFields: FieldNotes = {
  email: { note: 'Trimmed and lower-cased.', example: 'ada@example.com' },
  password: { note: '8 to 256 characters, not trimmed.', example: 'correct horse' },
  name: { note: 'Display name.', example: 'Ada Obi' },
  full_name: { note: 'Same as `name`, kept for compatibility.', example: 'Ada Obi' },
  first_name: { note: 'First word of the name.', example: 'Ada' },
  roles: { note: 'What the account may do; `user` is always there.', example: ['user'] },
  walletAddress: {
    note: 'Masked. Null while the wallet is provisioned, normally under a second.',
    example: 'B4D2...71Am',
  },
  walletPublicKey: { note: 'Base58. Null while the wallet is provisioned.', example: creatorWallet },
  emailVerifiedAt: { note: 'Null until a one-time code was entered.', example: null },
  onboardingComplete: { note: 'The wallet exists and the e-mail is verified.', example: false },
  onboarding_complete: { note: 'Same as `onboardingComplete`, kept for compatibility.', example: false },
  accessToken: {
    note: 'For `Authorization: Bearer`; opens `GET /auth/me`.',
    example: 'at_3vKQm0c7YdYw1yJ2hJm8Zq',
  },
  tokenType: { example: 'Bearer' },
  'auth.expiresAt': { note: 'When the access token ends.', example: '2026-11-22T09:30:15.250Z' },
  code: { note: 'The six digits from the e-mail.', example: '481516' },
  'post /auth/otp/link > token': {
    note: 'From the link, after `#sign-in=`.',
    omit: false,
    example: 'h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  notMine: {
    note: 'True: whoever made this account and its second factor was somebody else. Counts at the first proof of the e-mail only, else it is ignored.',
    example: true,
    omit: true,
  },
  common: { note: 'Offer to choose another password.', example: true },
  'post /auth/password > totp': agedTotpField,
  'post /auth/password > passkey': agedPasskeyField,
  currentPassword: { note: 'Or `totp`, or `passkey`.', example: 'correct horse' },
  newPassword: {
    note: '8 to 256 characters, not one of the 100,000 most common.',
    example: 'purple kettle by the sea',
  },
  'post /auth/password/reset/confirm > token': {
    note: 'From the link, after `#reset-password=`.',
    omit: false,
    example: 'h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  'post /auth/email > totp': agedTotpField,
  'post /auth/email > passkey': agedPasskeyField,
  'post /auth/email > password': { note: 'Or `totp`, or `passkey`.', example: 'correct horse' },
  'post /auth/email/confirm > token': {
    note: 'From the link, after `#confirm-email=`.',
    omit: false,
    example: 'h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  'post /auth/email/undo > token': {
    note: 'From the link, after `#undo-email=`.',
    omit: false,
    example: 'h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  'sessions[].current': { note: 'The one of this request.', example: true },
  'sessions[].lastUsedAt': { note: 'To the minute.', example: moment },
  network: { note: 'Null for a session from before it was recorded.', example: '197.210.84.7' },
  userAgent: { note: 'As the browser names itself.', example: 'Mozilla/5.0 (Linux; Android 14)' },
  'delete /auth/sessions/{id} > id': { note: 'As `GET /auth/sessions` lists it.' },
  emailVerified: { note: 'False until a mail to it was read.', example: true },
  hasPassword: { note: 'False: set one with `POST /auth/password`.', example: true },
  'get /auth/security < totp': {
    note: 'Whether an authenticator app is set up.',
    omit: false,
    example: false,
  },
  recoveryCodesLeft: { note: 'Unused ones.', example: 0 },
  'get /auth/security < passkeys': { note: 'How many.', example: 0 },
  frozenAt: { note: 'While set, nothing can be changed or withdrawn.', example: null },
  pendingEmail: { note: 'A new address whose link has not been used yet.', example: null },
  'post /auth/not-me > token': {
    note: 'From the link, after `#not-me=`.',
    omit: false,
    example: 'h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  tipMails: { note: 'Mails about tips: off, each or daily.', example: 'daily' },
  'post /auth/withdrawals/confirm > token': {
    note: 'From the link, after `#confirm-withdrawal=`.',
    omit: false,
    example: 'FIATPAY-7C1D2E3F4A5B60718293A4B5C6D7E8F9-h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  'post /auth/export/download > token': {
    note: 'From the link, after `#export=`.',
    omit: false,
    example: 'h7Jd2mQx9PbWq3Rk8sVt1yZc4nLf6aGe0uHj5oXi2Yw',
  },
  'get /auth/export < export.status': {
    note: '`failed`: repeat the call. `expired`: a new file can be had a day after the last request.',
    example: 'preparing',
  },
  'get /auth/export < export.expiresAt': {
    note: 'Of the mailed link; null until it is mailed.',
    example: null,
  },
  requestedAt: { example: moment },
  madeAt: { example: moment },
  'post /auth/export/download < account': {
    note: 'One row: the profile.',
    example: [{ email: 'ada@example.com', name: 'Ada Obi' }],
  },
  longer: {
    note: 'The lists that have more rows than the file, and the call that has all of them.',
    example: [],
  },
  'delete /auth/me > totp': agedTotpField,
  'delete /auth/me > passkey': { note: agedPasskey, omit: true },
  'delete /auth/me > password': { note: 'Of an account without a second factor.', example: 'correct horse' },
  'delete /auth/me > leaveTokens': {
    note: 'Leave the tokens besides USDC in the wallet behind.',
    example: false,
  },
}
