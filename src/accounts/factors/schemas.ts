import { z } from 'zod'
import { cleanLine, countCharacters } from '../../kernel/text.js'
import { totpField } from '../schemas.js'

/** The longest credential id that WebAuthn allows has 1023 bytes. */
const longestId = 1364
const mostLabelLength = 100
export const mostPasskeys = 20

const base64url = z.string().regex(/^[\w-]+$/)
const credentialId = base64url.max(longestId)
const credentialType = z.literal('public-key')

/** A browser's `PublicKeyCredential`, as its `toJSON()` writes it. Further fields are ignored. */
const credential = { id: credentialId, rawId: credentialId, type: credentialType }

/** The answer to the options of `POST /auth/passkeys/options`. */
const newCredential = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(base64url.max(20)).max(10).optional(),
  }),
})

/** The answer to the options of a sign-in or a confirmation. */
export const passkeyAnswer = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.max(88).optional(),
  }),
})

export const newPasskeyInput = z.object({
  response: newCredential,
  label: z
    .string('invalid_label')
    .transform((text) => cleanLine(text))
    .refine((text) => countCharacters(text) <= mostLabelLength, 'invalid_label')
    .transform((text) => text || undefined)
    .optional()
    .meta({ maxLength: mostLabelLength }),
})

export const passkeyLoginInput = z.object({ response: passkeyAnswer })

const descriptor = z.object({
  id: z.string(),
  type: credentialType,
  transports: z.array(z.string()).optional(),
})

const extensions = z.object({}).loose().optional()

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
const creationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type: credentialType, alg: z.number() })),
  timeout: z.number(),
  excludeCredentials: z.array(descriptor),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
  attestation: z.literal('none'),
  hints: z.array(z.string()).optional(),
  extensions,
})

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
const requestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  allowCredentials: z.array(descriptor).optional(),
  userVerification: z.literal('required'),
  extensions,
})

const success = { success: z.literal(true) }

export const creationOptionsAnswer = z.object({ ...success, options: creationOptions })
export type CreationOptions = z.output<typeof creationOptions>
export const requestOptionsAnswer = z.object({ ...success, options: requestOptions })
export type RequestOptions = z.output<typeof requestOptions>

const passkey = z.object({
  id: z.uuid(),
  label: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
})
export type PresentedPasskey = z.output<typeof passkey>

const recoveryCodes = z.array(z.string())
export const passkeyAdded = z.object({ ...success, passkey, recoveryCodes: recoveryCodes.optional() })
export const passkeysAnswer = z.object({ ...success, passkeys: z.array(passkey) })

/** What confirms a change: a factor, or, where `fresh` says so, a session of the last minutes. */
export const factorInput = z.object({ totp: totpField, passkey: passkeyAnswer.optional() })
export const removePasskeyInput = factorInput.extend({ id: z.string() })

export const confirmTotpInput = z.object({ code: z.string('invalid_code').max(100, 'invalid_code') })

export const totpAnswer = z.object({ ...success, secret: z.string(), uri: z.string() })
export const totpConfirmed = z.object({ ...success, recoveryCodes: recoveryCodes.optional() })
export const recoveryCodesAnswer = z.object({ ...success, recoveryCodes })
