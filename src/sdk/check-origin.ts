/** Longer than the address of any embedding page. */
const longestUrl = 2048
/** Pages on a developer's own machine are always permitted (contract: POST /sdk/init). */
const ownMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1'])
/**
 * Names that may stand in a policy header. The URL standard lets a host hold `;`, `,` and quotes, with which a
 * subdomain could add directives of its own to the `frame-ancestors` it ends up in.
 */
const plainHost = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/
const whitelistEntry = /^(\*\.)?([^:]+)(?::(\d+))?$/

/**
 * The origin of the page that wants to embed, if it is the creator's: read as a browser reads it (WHATWG URL), http
 * or https, no credentials, its host name compared exactly, never by a part of the text. Undefined for all else, which
 * is answered `Unauthorized Origin`. `whitelist`: `host`, `*.host` (its subdomains, at any depth) or with `:port`.
 */
export function permittedOrigin(originUrl: string, whitelist: readonly string[]): string | undefined {
  if (originUrl.length > longestUrl || !URL.canParse(originUrl)) return undefined
  const url = new URL(originUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  const host = url.hostname.replace(/\.$/, '')
  if (!plainHost.test(host)) return undefined
  const port = url.port === '' ? defaultPort[url.protocol] : url.port
  const permitted = ownMachine.has(host) || whitelist.some((entry) => permits(entry, host, port))
  return permitted ? url.origin : undefined
}

const defaultPort = { 'http:': '80', 'https:': '443' } as const

function permits(entry: string, host: string, port: string): boolean {
  const [, wildcard, name, onlyPort] = whitelistEntry.exec(entry) ?? []
  if (name === undefined || (onlyPort !== undefined && onlyPort !== port)) return false
  return wildcard === undefined ? host === name : host.endsWith(`.${name}`)
}
