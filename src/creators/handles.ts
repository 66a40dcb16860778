import { isAddress } from '../kernel/base58.js'
import { isSolDomain } from '../kernel/sol-domain.js'

/** Twitter: 1 to 15 letters, digits and underscores. */
const twitterForm = /^\w{1,15}$/
/** Discord: 2 to 32 letters, digits, underscores and dots. */
const discordForm = /^[\w.]{2,32}$/

/** Handles as they are compared: without @, lower case. Undefined where a text cannot be one. */
export interface HandleForms {
  readonly twitter: string | undefined
  readonly discord: string | undefined
}

/** What a trimmed text may mean as a handle: `@name` is Twitter's, a bare one anybody's. */
export function handleForms(text: string): HandleForms {
  const isTwitter = text.startsWith('@')
  const name = (isTwitter ? text.slice(1) : text).toLowerCase()
  return {
    twitter: twitterForm.test(name) ? name : undefined,
    discord: !isTwitter && discordForm.test(name) ? name : undefined,
  }
}

/** A Twitter handle to be linked, with or without @, in the case its owner writes it; undefined if it is none. */
export function twitterHandleFrom(text: string): string | undefined {
  const name = text.trim().replace(/^@/, '')
  return twitterForm.test(name) ? name : undefined
}

/** A Discord handle to be linked; undefined if it is none, or would be read as a wallet or a domain. */
export function discordHandleFrom(text: string): string | undefined {
  const name = text.trim()
  return discordForm.test(name) && !isAddress(name) && !isSolDomain(name) ? name : undefined
}
