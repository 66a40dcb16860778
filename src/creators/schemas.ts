import { z } from 'zod'
import { displayName } from '../accounts/schemas.js'
import { stepUpFields } from '../accounts/step-up/step-up.js'
import { requiredText } from '../http/input.js'
import { parseSolDomain } from '../kernel/sol-domain.js'
import { cleanLine, countCharacters } from '../kernel/text.js'
import { creatorSettings, settingsChange } from './settings.js'
import { parseSite } from './sites.js'

const mostSites = 50
const mostLabelLength = 100
const success = z.literal(true)

const solDomain = z
  .string('invalid_domain')
  .transform((text) => parseSolDomain(cleanLine(text)))
  .pipe(z.string('invalid_domain'))

/** PATCH /creators/me: absent fields stay unchanged; `solDomain: null` unlinks. */
export const profileChange = z.object({
  settings: settingsChange.optional(),
  name: displayName('invalid_name').optional(),
  solDomain: solDomain.nullish().meta({ description: 'Links a .sol domain; null unlinks it' }),
  signature: z
    .string('domain_not_yours')
    .optional()
    .meta({ description: "Base58 signature of the challenge's message by the owner of the domain" }),
  ...stepUpFields,
})
export type ProfileChange = z.output<typeof profileChange>

const creator = z.object({
  id: z.uuid(),
  name: z.string(),
  walletAddress: z.string().nullable(),
  walletPublicKey: z.string().nullable(),
  solDomain: z.string().nullable(),
  twitterHandle: z.string().nullable(),
  discordHandle: z.string().nullable(),
  settings: creatorSettings,
  tokensChosen: z
    .boolean()
    .meta({ description: 'The creator has set `acceptedTokens` or `autoConvertUsdc`' }),
})
export type CreatorProfile = z.output<typeof creator>
export const profileAnswer = z.object({ success, creator })

export const challengeInput = z.object({ solDomain })
export const challengeAnswer = z.object({ success, message: z.string() })

export const newKeyInput = z.object({
  label: z
    .string('invalid_label')
    .transform((text) => cleanLine(text))
    .refine((text) => countCharacters(text) <= mostLabelLength, 'invalid_label')
    .transform((text) => text || undefined)
    .optional()
    .meta({ maxLength: mostLabelLength }),
})
const apiKey = z.object({
  id: z.uuid(),
  prefix: z.string(),
  label: z.string().nullable(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
})
export const newKeyAnswer = apiKey
  .omit({ lastUsedAt: true })
  .extend({ success, apiKey: z.string().meta({ description: 'Shown here and never again' }) })
export const keysAnswer = z.object({ success, apiKeys: z.array(apiKey) })
export const keyInput = z.object({ id: requiredText('api_key_not_found').pipe(z.uuid('api_key_not_found')) })

export const sitesInput = z.object({
  domains: z
    .array(
      z
        .string('invalid_domain')
        .transform((text) => parseSite(text.trim()))
        .pipe(z.string('invalid_domain')),
      'invalid_domain',
    )
    .max(mostSites, 'invalid_domain')
    .transform((sites) => [...new Set(sites)])
    .meta({ description: 'example.com, *.example.com (subdomains only) or example.com:8443' }),
})
export const sitesAnswer = z.object({ success, domains: z.array(z.string()) })
