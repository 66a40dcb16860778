import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Config } from '../platform/config/config.js'
import { isPublicAddress } from './public-address.js'

/** Where webhooks may be sent. `local`: also to this machine. */
export interface Reach {
  readonly local: boolean
  readonly resolve: ResolveName
}

/** The addresses of a name. Throws when there are none. */
type ResolveName = (name: string) => Promise<readonly string[]>

/** Why nothing is sent to a URL: the end of a sentence whose subject is the URL. */
export class TargetRefused extends Error {
  override name = 'TargetRefused'
}

const longestUrl = 2048
const ports: readonly string[] = ['', '8443']
const localNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/**
 * Webhooks to this machine are sent only by a deployment whose own address is local, whatever its mode: one that others reach would
 * send what they choose to the servers beside it.
 */
export function reachOf({ http }: Pick<Config, 'http'>, resolve = resolveName): Reach {
  return { local: localNames.includes(new URL(http.publicUrl).hostname), resolve }
}

/** The URL of an endpoint in its normal form, in which an IP literal has one spelling only. Throws TargetRefused. */
export function parseTarget(text: string, { local }: Pick<Reach, 'local'>): URL {
  if (text.length > longestUrl) throw new TargetRefused(`must have at most ${longestUrl} characters`)
  if (!URL.canParse(text)) throw new TargetRefused('must be a URL, such as https://shop.example/webhooks')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new TargetRefused('must not have credentials')
  if (local && isLocal(url)) return url
  if (url.protocol !== 'https:') throw new TargetRefused('must begin with https://')
  if (!ports.includes(url.port)) throw new TargetRefused('must have the port 443 or 8443')
  const host = hostOf(url)
  const isInternal = isIP(host) === 0 ? !/\.\D/.test(host.replace(/\.$/, '')) : !isPublicAddress(host)
  if (isInternal) throw new TargetRefused('must not be a private address')
  return url
}

/** The addresses to which this attempt may connect. Throws TargetRefused unless every address of the name is public. */
export async function resolveTarget(url: URL, { local, resolve }: Reach): Promise<readonly string[]> {
  const host = hostOf(url)
  if (local && isLocal(url)) return host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
  if (isIP(host) !== 0) return [host]
  const addresses = await resolve(host).catch(() => [])
  if (addresses.length === 0) throw new TargetRefused('has a name that does not resolve')
  if (!addresses.every(isPublicAddress))
    throw new TargetRefused('has a name that resolves to a private address')
  return addresses
}

const isLocal = (url: URL): boolean =>
  (url.protocol === 'https:' || url.protocol === 'http:') && localNames.includes(url.hostname)

/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

const resolver = new Resolver({ timeout: 2000, tries: 2 })

/** Asks the name servers. It uses no thread of the pool, so a name that does not answer delays nobody else. */
async function resolveName(name: string): Promise<readonly string[]> {
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}
