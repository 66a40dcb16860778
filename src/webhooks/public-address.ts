import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** IPv4 addresses that are nobody's on the internet, or everybody's (IANA's special-purpose registry). */
const notPublic = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  notPublic.addSubnet(network, bits, 'ipv4')

/** Global unicast of IPv6 is 2000::/3. Of it these are for protocols and documents. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
const special = new BlockList()
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const)
  special.addSubnet(network, bits, 'ipv6')

/** Where an address of IPv6 contains one of IPv4, in groups of 16 bits: mapped, NAT64, 6to4. */
const embedded: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [[0x2002], 1],
]

/** Whether an address is one of the internet, to which a server may send what a stranger has asked for. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  const groups = groupsOf(address)
  const found = embedded.find(([prefix]) => prefix.every((group, index) => groups[index] === group))
  if (found !== undefined) return isPublicAddress(ipv4At(groups, found[1]))
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

function ipv4At(groups: readonly number[], at: number): string {
  const [high = 0, low = 0] = groups.slice(at)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups of an address of IPv6. */
function groupsOf(address: string): number[] {
  // URL writes an embedded IPv4 address as two groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const parse = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [first, last] = [parse(head), parse(tail ?? '')]
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array.from({ length: zeros }, () => 0), ...last]
}
