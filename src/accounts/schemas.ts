import { z } from 'zod'
import { requiredSecret, requiredText, textOf } from '../http/input.js'
import type { ErrorCode } from '../kernel/errors.js'
import { cleanLine, isVisible } from '../kernel/text.js'
import { emailLength, parseEmailAddress } from './email-address.js'
import { passwordLength } from './password.js'
import { codePattern } from './secrets/codes.js'

/** API: the length of a display name, in characters. */
const nameLength = { least: 2, most: 100 } as const

/** A code of the app or a recovery code. Blanks and hyphens group it. */
export const totpField = z.string('invalid_code').max(100, 'invalid_code').optional()

/** An e-mail address in the one form in which it is stored and compared. */
export const emailAddress = z
  .string()
  .transform((text, { issues }) => {
    const email = parseEmailAddress(text)
    if (email !== undefined) return email
    const problem = isVisible(text)
      ? `must be one e-mail address of at most ${emailLength} characters`
      : 'is missing'
    issues.push({ code: 'custom', input: text, params: { problem } })
    return z.NEVER
  })
  .meta({ format: 'email', maxLength: emailLength })

/** A person's name, cleaned to one line of 2 to 100 characters; anything else is `wrong`. */
export function displayName(wrong: ErrorCode) {
  return z
    .string(wrong)
    .transform((name) => cleanLine(name))
    .pipe(textOf(nameLength, wrong))
    .meta({ minLength: nameLength.least, maxLength: nameLength.most })
}

export const registration = z.object({
  email: emailAddress,
  password: textOf(passwordLength),
  name: displayName('invalid_registration'),
})

/** Only presence is checked. Any other fault is answered `invalid_credentials` by the operation. */
export const credentials = z.object({
  email: requiredText('invalid_login'),
  password: requiredSecret('invalid_login'),
  totp: totpField,
})

export const otpStartInput = z.object({ email: emailAddress })

/** Of a sign-in by mail: what was set up before the first proof of the e-mail is somebody else's. */
const notMine = z.boolean('invalid_code').optional()

/** The token of a mailed link. */
export const tokenInput = z.object({
  token: requiredSecret('link_token_required').meta({ description: 'Of the mailed link' }),
})

/** POST /auth/otp/link. */
export const signInLinkInput = tokenInput.extend({ totp: totpField, notMine })

/** The code is not trimmed. Any fault in either field is answered `invalid_code`. */
export const otpVerifyInput = z.object({
  email: emailAddress,
  code: z.string().regex(codePattern, 'invalid_code'),
  totp: totpField,
  notMine,
})

export const nothing = z.object({})

/** An endpoint that reads what the session's account has, without any field. */
export const ownRead = {
  method: 'get',
  credential: 'session',
  limit: 'reads',
  input: nothing,
  invalid: 'unauthorized',
  errors: [],
} as const

const user = z.object({
  id: z.uuid(),
  email: z.string(),
  name: z.string(),
  full_name: z.string(),
  first_name: z.string().nullable(),
  roles: z.array(z.string()),
  walletAddress: z.string().nullable(),
  walletPublicKey: z.string().nullable(),
  emailVerifiedAt: z.iso.datetime().nullable(),
  onboardingComplete: z.boolean(),
  onboarding_complete: z.boolean(),
  solDomain: z.string().nullable(),
  twitterHandle: z.string().nullable(),
  discordHandle: z.string().nullable(),
})
export type User = z.output<typeof user>

/** The API's user object in each endpoint's answer. The views differ in the fields they omit. */
export const userViews = {
  session: user,
  me: user.omit({ full_name: true, first_name: true }),
  otpVerify: user.omit({ walletAddress: true, walletPublicKey: true, first_name: true }),
}

const auth = z.object({
  accessToken: z.string(),
  tokenType: z.literal('Bearer'),
  expiresAt: z.iso.datetime(),
})
export type Auth = z.output<typeof auth>

export const sessionAnswer = z.object({ success: z.literal(true), user: userViews.session, auth })
export const otpVerifyAnswer = z.object({ success: z.literal(true), user: userViews.otpVerify, auth })
export const meAnswer = z.object({ success: z.literal(true), user: userViews.me })
export const done = z.object({ success: z.literal(true) })

/** An endpoint that does what a mailed link is for, without signing in. */
export const byLink = {
  method: 'post',
  credential: 'none',
  limit: 'reads',
  input: tokenInput,
  invalid: 'link_token_required',
  output: done,
} as const

/** GET /auth/security. */
export const securityAnswer = z.object({
  success: z.literal(true),
  emailVerified: z.boolean(),
  hasPassword: z.boolean(),
  totp: z.boolean(),
  recoveryCodesLeft: z.int(),
  passkeys: z.int(),
  frozenAt: z.iso.datetime().nullable(),
  tipMails: z.enum(['off', 'each', 'daily']),
  pendingEmail: z.string().nullable(),
})
