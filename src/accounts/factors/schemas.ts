import { z } from 'zod'
import { totpField } from '../schemas.js'
import { passkeyAnswer, recoveryCodes } from './passkeys/passkey-schemas.js'

/** What confirms a change: a factor, or, where `fresh` says so, a session of the last minutes. */
export const factorInput = z.object({ totp: totpField, passkey: passkeyAnswer.optional() })
export const removePasskeyInput = factorInput.extend({ id: z.string() })

export const confirmTotpInput = z.object({ code: z.string('invalid_code').max(100, 'invalid_code') })

const success = { success: z.literal(true) }

export const totpAnswer = z.object({ ...success, secret: z.string(), uri: z.string() })
export const totpConfirmed = z.object({ ...success, recoveryCodes: recoveryCodes.optional() })
export const recoveryCodesAnswer = z.object({ ...success, recoveryCodes })
