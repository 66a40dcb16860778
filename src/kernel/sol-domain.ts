/** A name and at most one name below it, so that the users table's form holds too. */
const most = 250
// Names are hashed as they are, so what looks alike is not alike; what is not seen at all is refused.
const part = /^[^\s\p{C}/@.]{1,63}$/u

/** Whether a text is meant as a `.sol` domain, well formed or not. */
export function isSolDomain(text: string): boolean {
  return /\.sol$/i.test(text)
}

/** The one form of a domain: lower case, `name.sol` or `sub.name.sol`; undefined for what cannot be one. */
export function solDomainFrom(text: string): string | undefined {
  if (text.length > most || !isSolDomain(text)) return undefined
  const domain = text.toLowerCase()
  const parts = domain.slice(0, -'.sol'.length).split('.')
  return parts.length <= 2 && parts.every((name) => part.test(name)) ? domain : undefined
}
