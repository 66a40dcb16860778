import { cleanLine } from '../../kernel/text.js'

const longest = 100
/** Mail programs offer such digits as a one-time code. */
const codeLike = /\p{Nd}{6,}/gu
const digitsKept = 3
/** A mail program makes a link of it, and the mail would vouch for it. */
const address = /\S*:\/\/\S*/g

/** `evil.example/pay` and `me@evil.example` become links too. */
const domainLike = /\S+\.\p{L}{2,}\S*/gu

/** A text that others have chosen, as a mail of ours may contain it: one line, cut, without links and without what looks like a code. */
export function quoteInMail(text: string): string {
  return quoteLine(cleanLine(text).replace(address, '(link)').replace(domainLike, '(link)'))
}

/**
 * A site or an e-mail address that others have chosen: `shop[.]example`. Its owner must read which one it is, so the words stay.
 * The brackets keep every mail program from making a link, in plain text too, where no markup can; people know the form.
 */
export function quoteDomainInMail(text: string): string {
  return quoteLine(cleanLine(text).replace(address, '(link)').replaceAll('.', '[.]'))
}

function quoteLine(line: string): string {
  const safe = line.replace(codeLike, (digits) => `${digits.slice(0, digitsKept)}...`)
  const cut = cleanLine(safe, longest)
  return cut === safe ? safe : `${cut}...`
}

const browsers: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /\bEdgA?(iOS)?\//],
  ['Opera', /\b(OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]
const systems: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['Mac', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
]

/** A browser as its owner knows it: `Chrome on Android`. One that is not known is quoted. */
export function describeBrowser(userAgent: string | null): string {
  if (userAgent === null) return 'unknown'
  const nameIn = (known: typeof browsers) => known.find(([, mark]) => mark.test(userAgent))?.[0]
  const browser = nameIn(browsers)
  if (browser === undefined) return quoteInMail(userAgent)
  const system = nameIn(systems)
  return system === undefined ? browser : `${browser} on ${system}`
}

/** An address, or the first half of one of IPv6 as it is written: `2001:db8:0:0::/64`. */
export function describeNetwork(network: string): string {
  return network.includes(':') ? `${network}::/64` : network
}

const moment = { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const
const utc = new Intl.DateTimeFormat('en-GB', { ...moment, timeZone: 'UTC' })
const lagos = new Intl.DateTimeFormat('en-GB', { ...moment, timeZone: 'Africa/Lagos' })

/** A time for people: in UTC, and where most creators live. */
export function describeMoment(at: Date): string {
  return `${utc.format(at)} UTC (${lagos.format(at)} in Lagos)`
}
