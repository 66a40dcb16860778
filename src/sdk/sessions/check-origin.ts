const longestUrl = 2048
/** `localhost:3000` alone is not a URL: it reads as a scheme. */
const bareLocalHost = /^\s*(localhost|127\.0\.0\.1)(:\d{1,5})?\s*$/i
/** Pages on a developer's own machine are always permitted (API: POST /sdk/init). */
const localHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1'])
/** The URL standard also reads `2130706433`, `127.1` and the like as 127.0.0.1. Nobody writes their own machine so. */
const writtenAddress = /^\s*https?:[/\\]*127\.0\.0\.1\.?\s*(?:[:/\\?#]|$)/i
/**
 * Host names that are safe in a policy header. The URL standard allows `;`, `,` and quotes in a host. With them a
 * subdomain could add directives to the `frame-ancestors` policy that names it.
 */
const plainHost = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/
const whitelistEntry = /^(\*\.)?([^:]+)(?::(\d+))?$/

/**
 * Returns the origin of the embedding page if the creator's whitelist permits it, else undefined (the API answers
 * `Unauthorized Origin`). A bare local host counts as http. The URL must be http or https without credentials. It is parsed
 * as browsers do (WHATWG URL), and whole host names are compared. `whitelist`: entries in the form of `parseSite`; `*.host`
 * means subdomains of any depth.
 */
export function permittedOrigin(written: string, whitelist: readonly string[]): string | undefined {
  const originUrl = bareLocalHost.test(written) ? `http://${written.trim()}` : written
  if (originUrl.length > longestUrl || !URL.canParse(originUrl)) return undefined
  const url = new URL(originUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  const host = url.hostname.replace(/\.$/, '')
  if (!plainHost.test(host)) return undefined
  if (host === '127.0.0.1' && !writtenAddress.test(originUrl)) return undefined
  const port = url.port === '' ? defaultPort[url.protocol] : url.port
  const permitted = localHosts.has(host) || whitelist.some((entry) => permits(entry, host, port))
  return permitted ? url.origin : undefined
}

const defaultPort = { 'http:': '80', 'https:': '443' } as const

function permits(entry: string, host: string, port: string): boolean {
  const [, wildcard, name, onlyPort] = whitelistEntry.exec(entry) ?? []
  if (name === undefined || (onlyPort !== undefined && onlyPort !== port)) return false
  return wildcard === undefined ? host === name : host.endsWith(`.${name}`)
}
