/** RFC 1035, 2.3.4: the longest host name, and the longest of its labels. */
const mostHostLength = 253
const entry = /^(\*\.)?([^\s\p{C}:/?#@\\*%[\]]+?)(?::(\d{1,5}))?$/u
const label = /^[a-z0-9_-]{1,63}$/
const mostPort = 65_535

/**
 * A whitelisted site in the one form in which it is stored and compared: `host`, `*.host` or `host:port`, the host
 * as a browser writes it (WHATWG URL: lower case, punycode, one trailing dot dropped). Undefined for anything else:
 * a scheme, a path, credentials, a wildcard elsewhere than in front or over a whole top-level domain, an address
 * in disguise. The labels are narrower than the URL standard's, since entries end up in a policy header.
 */
export function normaliseSite(text: string): string | undefined {
  const [, wildcard = '', name = '', port] = entry.exec(text) ?? []
  const host = hostOf(name)
  if (host === undefined || (wildcard !== '' && !mayBeWild(host))) return undefined
  if (port === undefined) return wildcard + host
  const number = Number(port)
  return number >= 1 && number <= mostPort ? `${wildcard}${host}:${number}` : undefined
}

function hostOf(name: string): string | undefined {
  if (name === '' || name.length > mostHostLength || !URL.canParse(`http://${name}`)) return undefined
  const host = new URL(`http://${name}`).hostname.replace(/\.$/, '')
  if (host.length > mostHostLength || !host.split('.').every((part) => label.test(part))) return undefined
  // `0x7f.1` and `2130706433` are 127.0.0.1 to a browser: an address must be written as one.
  return isAddress(host) && host !== name.replace(/\.$/, '') ? undefined : host
}

function mayBeWild(host: string): boolean {
  return host.includes('.') && !isAddress(host)
}

function isAddress(host: string): boolean {
  return /^\d+(\.\d+){3}$/.test(host)
}
