import { BlockList, isIP } from 'node:net'
import type { Context, Middleware } from 'koa'
import type { TrustProxy } from '../../platform/config/trust-proxy.js'

/** A request as the browser sent it, before the proxies in front of the service. */
export interface Reached {
  /** The client's address. */
  readonly address: string
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
 * long as the address found so far is a trusted proxy's.
 */
export function trustProxies(trust: TrustProxy): Middleware {
  const isProxy = proxiesOf(trust)
  return (ctx, next) => {
    ctx.state['reached'] = readReached(ctx, isProxy)
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
  if (typeof trust === 'number') return (_, hop) => hop < trust
  const networks = new BlockList()
  for (const network of trust) {
    const [address = '', prefix] = network.split('/')
    const family = familyOf(address)
    if (prefix === undefined) networks.addAddress(address, family)
    else networks.addSubnet(address, Number(prefix), family)
  }
  // BlockList finds an IPv4 address that is mapped into IPv6 in IPv4 networks.
  return (address) => isIP(address) !== 0 && networks.check(address, familyOf(address))
}

function readReached(ctx: Context, isProxy: IsProxy): Reached {
  const connection = ctx.req.socket.remoteAddress ?? ''
  const address = findClient(connection, ctx.get('X-Forwarded-For'), isProxy)
  const direct = !isProxy(connection, 0)
  const forwarded = (name: string): string => (direct ? '' : (ctx.get(name).split(',', 1)[0] ?? '').trim())
  return {
    address,
    host: forwarded('X-Forwarded-Host') || ctx.get('Host'),
    scheme: forwarded('X-Forwarded-Proto').toLowerCase() === 'https' ? 'https' : 'http',
  }
}

/** An entry that is not an address ends the search: what stands left of it is worth nothing. */
function findClient(connection: string, forwardedFor: string, isProxy: IsProxy): string {
  let address = connection
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
