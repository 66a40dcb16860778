import { domainToASCII } from 'node:url'

/** RFC 5321, 4.5.3.1: mail cannot be delivered to a longer address or local part. */
export const emailLength = 254
const localLength = 64
/** RFC 5322, 3.2.3: a dot-atom. Quoted local parts and comments are not taken. */
const localForm = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const hostForm = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])$/
/** Characters that end a host when a URL is parsed, so that `domainToASCII` would drop what follows. */
const notInHost = /[\s/\\?#:@%[\]<>^|]/

/**
 * Parses an e-mail address into the one form in which it is stored and compared: trimmed, lower case, an international
 * domain as punycode. Undefined for anything else.
 */
export function parseEmailAddress(text: string): string | undefined {
  // Normalizing takes the square of the number of marks. No text of an address is longer.
  if (text.length > 2 * emailLength) return undefined
  const trimmed = text.trim().normalize('NFC').toLowerCase()
  const at = trimmed.lastIndexOf('@')
  const [local, domain] = [trimmed.slice(0, at), trimmed.slice(at + 1)]
  if (at < 1 || local.length > localLength || !localForm.test(local) || notInHost.test(domain))
    return undefined
  const host = /^[\x20-\x7e]*$/.test(domain) ? domain : domainToASCII(domain)
  const address = `${local}@${host}`
  return hostForm.test(host) && address.length <= emailLength ? address : undefined
}
