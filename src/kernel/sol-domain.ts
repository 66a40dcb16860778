/** Fits the check `users_sol_domain_form` of the users table. */
const maxLength = 250
// The name service hashes names byte by byte, so lookalike letters are different names. Invisible characters are refused.
const part = /^[^\s\p{C}/@.]{1,63}$/u

/** Whether a text ends in `.sol`, well formed or not. */
export function isSolDomain(text: string): boolean {
  return /\.sol$/i.test(text)
}

/** The canonical form of a domain: lower case, `name.sol` or `sub.name.sol`; undefined for any other text. */
export function parseSolDomain(text: string): string | undefined {
  if (text.length > maxLength || !isSolDomain(text)) return undefined
  const domain = text.toLowerCase()
  const parts = domain.slice(0, -'.sol'.length).split('.')
  return parts.length <= 2 && parts.every((name) => part.test(name)) ? domain : undefined
}
