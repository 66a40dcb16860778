import { isIP } from 'node:net'

/** How many proxies stand in front of the service, or their networks. Undefined: nobody has said. */
export type TrustProxy = number | readonly string[] | undefined

const words: Readonly<Record<string, number>> = { true: 1, false: 0 }
const mostHops = 99

/** Reads `true` (one proxy), `false`, a number of proxies, or a list of addresses and networks in CIDR notation. */
export function parseTrustProxy(text: string): TrustProxy | undefined {
  if (Object.hasOwn(words, text)) return words[text]
  if (/^\d+$/.test(text)) return Number(text) <= mostHops ? Number(text) : undefined
  const networks = text.split(',').map((network) => network.trim())
  return networks.every(isNetwork) ? networks : undefined
}

/** Every network at once (`/0`) is refused: each client would be a proxy, whose words about itself count. */
function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  if (longest === 0 || address.includes('%') || rest.length > 0) return false
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= longest)
}
