import { BlockList, isIP } from 'node:net'
import type { Context, Middleware } from 'koa'
import type { TrustProxy } from '../../platform/config/trust-proxy.js'

/** A request as the browser sent it, before the proxies in front of the service. */
export interface Reached {
  /** The client's address. */
  readonly address: string
  /** False: the address may be of a proxy that `TRUST_PROXY` does not name. Nothing is judged by it. */
  readonly isKnown: boolean
  /** The host and port of the requested URL. */
  readonly host: string
  readonly scheme: 'http' | 'https'
}

/** Some proxies append the port. */
const ipv4WithPort = /^([\d.]+):\d+$/
const ipv6InBrackets = /^\[([^\]]+)\](?::\d+)?$/

/**
 * Finds out how each request reached the service (`reached`). `X-Forwarded-*` counts only from a trusted proxy. The client
 * may have written entries of `X-Forwarded-For` itself, and each proxy appends one. So they are read from the right, as
 * long as the address found so far is a trusted proxy's. Where `TRUST_PROXY` is not set, what connects from a private address with
 * such a header is likely a proxy: then the last entry is counted by, so that one client does not use up what all may do. `warn` is
 * called at the first such header.
 */
export function trustProxies(trust: TrustProxy, warn?: () => void): Middleware {
  const isProxy = proxiesOf(trust)
  let warned = false
  return (ctx, next) => {
    ctx.state['reached'] = readReached(ctx, isProxy, trust)
    if (trust === undefined && !warned && ctx.get('X-Forwarded-For') !== '') {
      warned = true
      warn?.()
    }
    return next()
  }
}

/** How the request reached the service. Only behind `trustProxies`. */
export function reached(ctx: Context): Reached {
  const found: Reached | undefined = ctx.state['reached']
  if (found === undefined) throw new Error('trustProxies must run first')
  return found
}

/** Whether an address is a trusted proxy's. `hop`: 0 for the connection's address, 1 for the one it names, and so on. */
type IsProxy = (address: string, hop: number) => boolean

function proxiesOf(trust: TrustProxy): IsProxy {
  if (trust === undefined) return () => false
  if (typeof trust === 'number') return (_, hop) => hop < trust
  return inNetworks(trust)
}

function inNetworks(list: readonly string[]): (address: string) => boolean {
  const networks = new BlockList()
  for (const network of list) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    if (prefix === undefined) networks.addAddress(address, family)
    else networks.addSubnet(address, Number(prefix), family)
  }
  // BlockList finds an IPv4 address that is mapped into IPv6 in IPv4 networks.
  return (address) => isIP(address) !== 0 && networks.check(address, familyOf(address))
}

/** Loopback, private and shared addresses: proxies of the same machine, network or host. */
const isNear = inNetworks([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1',
  'fc00::/7',
])

function readReached(ctx: Context, isProxy: IsProxy, trust: TrustProxy): Reached {
  const connection = ctx.req.socket.remoteAddress ?? ''
  const forwardedFor = ctx.get('X-Forwarded-For')
  const isKnown = forwardedFor === '' || trust === 0 || isProxy(connection, 0)
  const claims = forwardedFor !== '' && trust === undefined && isNear(connection)
  const address = findClient(connection, forwardedFor, claims ? (_, hop) => hop === 0 : isProxy)
  const direct = !isProxy(connection, 0)
  const forwarded = (name: string): string => (direct ? '' : (ctx.get(name).split(',', 1)[0] ?? '').trim())
  return {
    address,
    isKnown,
    host: forwarded('X-Forwarded-Host') || ctx.get('Host'),
    scheme: forwarded('X-Forwarded-Proto').toLowerCase() === 'https' ? 'https' : 'http',
  }
}

/** An entry that is not an address ends the search: what stands left of it is worth nothing. */
function findClient(connection: string, forwardedFor: string, isProxy: IsProxy): string {
  let address = connection
  if (forwardedFor === '') return address
  for (const [hop, entry] of forwardedFor.split(',').reverse().entries()) {
    const next = addressIn(entry.trim())
    if (next === undefined || !isProxy(address, hop)) break
    address = next
  }
  return address
}

function addressIn(entry: string): string | undefined {
  const address = ipv6InBrackets.exec(entry)?.[1] ?? ipv4WithPort.exec(entry)?.[1] ?? entry
  return isIP(address) === 0 || address.includes('%') ? undefined : address
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
