import type { Context } from 'koa'
import { reached } from './trusted-proxies.js'

const mappedIpv4 = /^::ffff:(?=\d+\.)/i
/** Providers give each customer a /64 network, so the limits count the network, not its 2^64 addresses. */
const groupsOfNetwork = 4
const groupsOfAddress = 8

/** The address that a rate limit counts: an IPv4 address, or the /64 network of an IPv6 address. */
export function clientAddress(ctx: Context): string {
  return networkOf(reached(ctx).address)
}

/** The network of a client that may stand behind a proxy which is not known. It is the same as no other. */
export const unknownNetwork = 'unknown'

/** By what a client is judged: as `clientAddress`, or `unknownNetwork`. */
export function clientNetwork(ctx: Context): string {
  return reached(ctx).isKnown ? clientAddress(ctx) : unknownNetwork
}

/** `192.0.2.7` stays as it is, also when mapped into IPv6. `2001:db8::7` becomes `2001:db8:0:0`, and `::1` the loopback of IPv4. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  if (address === '::1') return '127.0.0.1'
  const plain = address.replace(mappedIpv4, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::')
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array<string>(Math.max(0, groupsOfAddress - first.length - last.length)).fill('0')
  const groups = [...first, ...(tail === undefined ? [] : zeros), ...last].slice(0, groupsOfNetwork)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':')
}
