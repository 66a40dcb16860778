import type { Knex } from 'knex'
import { type AccountNotice, notifyOwner, type Origin, warning } from '../accounts/notify-owner.js'
import { quoteDomainInMail } from '../mail/layout.js'
import type { Services } from '../services.js'
import { lockCreator } from './find-creator.js'
import { Site } from './models.js'

/** RFC 1035, 2.3.4: the maximum length of a host name. `labelForm` has the limit of a label. */
const mostHostLength = 253
const siteForm = /^(\*\.)?([^\s\p{C}:/?#@\\*%[\]]+?)(?::(\d{1,5}))?$/u
const labelForm = /^[a-z0-9_-]{1,63}$/
const mostPort = 65_535

/**
 * Parses a site on which a creator's embeds may appear into the form in which it is stored and compared: `host`,
 * `*.host`, each optionally with `:port`. The host is written as a browser writes it (WHATWG URL: lower case, punycode,
 * one trailing dot removed). Undefined for anything else: a scheme, a path, credentials, a wildcard in another place
 * or for a whole top-level domain, an IPv4 address in another notation. Labels are stricter than in the URL standard,
 * because sites become part of a policy header.
 */
export function parseSite(text: string): string | undefined {
  const [, wildcard = '', name = '', port] = siteForm.exec(text) ?? []
  const host = parseHost(name)
  if (host === undefined || (wildcard !== '' && !allowsWildcard(host))) return undefined
  if (port === undefined) return wildcard + host
  const number = Number(port)
  return number >= 1 && number <= mostPort ? `${wildcard}${host}:${number}` : undefined
}

function parseHost(name: string): string | undefined {
  if (name === '' || name.length > mostHostLength || !URL.canParse(`http://${name}`)) return undefined
  const host = new URL(`http://${name}`).hostname.replace(/\.$/, '')
  if (host.length > mostHostLength || !host.split('.').every((part) => labelForm.test(part))) return undefined
  // `0x7f.1` and `2130706433` are 127.0.0.1 to a browser. An address must be written in its usual form.
  return isIpv4(host) && host !== name.replace(/\.$/, '') ? undefined : host
}

function allowsWildcard(host: string): boolean {
  return host.includes('.') && !isIpv4(host)
}

function isIpv4(host: string): boolean {
  return /^\d+(\.\d+){3}$/.test(host)
}

/** Lists the sites on which a creator's embeds may appear, in the creator's order. */
export async function listSites(db: Knex, userId: string): Promise<string[]> {
  const sites = await Site.query(db).where({ user_id: userId }).orderBy('position')
  return sites.map(({ domain }) => domain)
}

/** Replaces the list. `sites` are in the form of `parseSite` and unique. One mail tells the owner which are new. */
export async function replaceSites(
  { transact, config }: Pick<Services, 'transact' | 'config'>,
  userId: string,
  sites: readonly string[],
  origin?: Origin,
): Promise<void> {
  await transact(async (uow) => {
    const { trx } = uow
    await lockCreator(trx, userId)
    const before = await listSites(trx, userId)
    await Site.query(trx).delete().where({ user_id: userId })
    const rows = sites.map((domain, index) => ({ userId, domain, position: index + 1 }))
    if (rows.length > 0) await Site.query(trx).insert(rows)
    const added = sites.filter((site) => !before.includes(site))
    if (added.length === 0) return
    await notifyOwner(uow, config.http.publicUrl, userId, sitesNotice(added), origin)
  })
}

const mostMailed = 10

export function sitesNotice(added: readonly string[]): AccountNotice {
  const more = added.length - mostMailed
  const listed = added.slice(0, mostMailed).map((one) => quoteDomainInMail(one))
  const names = [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return warning('site-added', (site, trusted) => ({
    subject: `A new site for your tips at ${site}`,
    lines: [`${trusted ? 'These' : 'More'} sites may now show the checkout of your account at ${site}.`],
    facts: trusted ? [[added.length === 1 ? 'Site' : 'Sites', names]] : [],
  }))
}

export async function forgetSites(trx: Knex.Transaction, userId: string): Promise<void> {
  await Site.query(trx).delete().where({ user_id: userId })
}
