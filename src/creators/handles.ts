import { isAddress } from '../kernel/base58.js'
import { isSolDomain } from '../kernel/sol-domain.js'
import { cleanLine } from '../kernel/text.js'

/** Twitter: 1 to 15 letters, digits and underscores. */
const twitterForm = /^\w{1,15}$/
/** Discord: 2 to 32 letters, digits, underscores and dots. */
const discordForm = /^[\w.]{2,32}$/

/** The handles a text may mean, in the form in which they are compared: without @, lower case. */
export interface HandleForms {
  readonly twitter: string | undefined
  readonly discord: string | undefined
}

/** Parses a trimmed text. `@name` is a Twitter handle; `name` may be a Twitter or a Discord handle. */
export function parseHandle(text: string): HandleForms {
  const isTwitter = text.startsWith('@')
  const name = (isTwitter ? text.slice(1) : text).toLowerCase()
  return {
    twitter: twitterForm.test(name) ? name : undefined,
    discord: !isTwitter && discordForm.test(name) ? name : undefined,
  }
}

/** Parses a Twitter handle to link, with or without @. Keeps its case. Undefined when it is not a handle. */
export function parseTwitterHandle(text: string): string | undefined {
  const name = cleanLine(text).replace(/^@/, '')
  return twitterForm.test(name) ? name : undefined
}

/** Parses a Discord handle to link. Undefined when it is not a handle, or could also be a wallet or a domain. */
export function parseDiscordHandle(text: string): string | undefined {
  const name = cleanLine(text)
  return discordForm.test(name) && !isAddress(name) && !isSolDomain(name) ? name : undefined
}
