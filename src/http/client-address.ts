import { isIP } from 'node:net'
import type { Context } from 'koa'

const mappedIpv4 = /^::ffff:(?=\d+\.)/i
/** A network hands out a /64 to one customer: counted singly, its 2^64 addresses would be as many callers. */
const groupsOfNetwork = 4
const groupsOfAddress = 8

/**
 * Whom a limit counts: an IPv4 address, or the /64 network of an IPv6 one. Behind a configured proxy it is what the
 * proxy appended to X-Forwarded-For (koa is told to look at the last entry only), otherwise the connection's.
 */
export function clientAddress(ctx: Context): string {
  const stated = ctx.ips[0]
  if (stated !== undefined && isIP(stated) !== 0) return networkOf(stated)
  return networkOf(ctx.req.socket.remoteAddress ?? '')
}

/** `192.0.2.7` as it is (also when mapped into IPv6); `2001:db8::7` as `2001:db8:0:0`. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
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
