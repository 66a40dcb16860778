import { z } from 'zod'
import type { NamingSignature, SignaturePage, SignaturesSince } from '../../ports/chain.js'
import { documented, type JsonRpc } from './json-rpc.js'

/** Transactions read per key. A reference key is normally in one; anybody may use it in more. */
const signaturesPerKey = 10

const signaturesReply = z.array(z.object({ signature: z.string(), err: z.unknown().optional() }))

export async function findSignatures(
  rpc: JsonRpc,
  keys: readonly string[],
): Promise<[string, readonly string[]][][]> {
  const how = { commitment: 'confirmed', limit: signaturesPerKey }
  const replies = await rpc.batch(
    keys.map((key) => ({ method: 'getSignaturesForAddress', params: [key, how] })),
  )
  return keys.map((key, index) => {
    const found = signaturesReply.safeParse(replies[index])
    if (!found.success) return []
    return [[key, found.data.filter(({ err }) => err == null).map(({ signature }) => signature)]]
  })
}

/** Of most addresses there is little: the first page of several is read in one request. */
const firstPage = 100
/** The most that a node returns at a time. */
const nextPage = 1000
/** Somebody may name an address in as many transactions as they pay for. */
const mostPages = 50

const pageReply = z.array(
  z.object({ signature: z.string(), err: z.unknown().optional(), blockTime: z.number().nullish() }),
)
type Page = z.output<typeof pageReply>

export async function readSignaturesSince(
  rpc: JsonRpc,
  addresses: readonly string[],
  since: Date,
): Promise<[string, SignaturesSince][][]> {
  const how = { commitment: 'confirmed', limit: firstPage }
  const replies = await rpc.batch(
    addresses.map((address) => ({ method: 'getSignaturesForAddress', params: [address, how] })),
  )
  const found: [string, SignaturesSince][][] = []
  for (const [index, address] of addresses.entries()) {
    const first = pageReply.safeParse(replies[index])
    found.push(first.success ? [[address, await readOn(rpc, address, since, first.data)]] : [])
  }
  return found
}

/** Pages back to the moment, or to an empty page: nodes return fewer than asked. A block without a time counts as later. */
async function readOn(rpc: JsonRpc, address: string, since: Date, first: Page): Promise<SignaturesSince> {
  const oldest = since.getTime() / 1000
  const isSince = ({ blockTime }: Page[number]): boolean => blockTime == null || blockTime >= oldest
  const all: Page = [...first]
  let last = first
  for (let pages = 1; last.length > 0 && last.every(isSince); pages++) {
    if (pages === mostPages) return { signatures: successful(all), whole: false }
    const how = { commitment: 'confirmed', limit: nextPage, before: last.at(-1)?.signature }
    last = await rpc.call('getSignaturesForAddress', [address, how], documented(pageReply))
    all.push(...last)
  }
  return { signatures: successful(all.filter(isSince)), whole: true }
}

/** What names an address, failed transactions too, back to an empty page: nodes return fewer than asked. */
export async function readSignaturesNaming(
  { call }: Pick<JsonRpc, 'call'>,
  address: string,
): Promise<SignaturesSince> {
  const signatures: string[] = []
  for (let pages = 0; pages < mostPages; pages++) {
    const how = { commitment: 'confirmed', limit: nextPage, before: signatures.at(-1) }
    const page = await call('getSignaturesForAddress', [address, how], documented(signaturesReply))
    if (page.length === 0) return { signatures, whole: true }
    signatures.push(...page.map(({ signature }) => signature))
  }
  return { signatures, whole: false }
}

export async function readSignaturePages(
  rpc: JsonRpc,
  pages: readonly SignaturePage[],
): Promise<[string, readonly NamingSignature[]][][]> {
  const replies = await rpc.batch(
    pages.map(({ address, before, until }) => {
      const how = { commitment: 'confirmed', limit: firstPage, before, until }
      return { method: 'getSignaturesForAddress', params: [address, how] }
    }),
  )
  return pages.map(({ address }, index) => {
    const page = pageReply.safeParse(replies[index])
    return page.success ? [[address, page.data.map(namingSignature)]] : []
  })
}

function namingSignature({ signature, err, blockTime }: Page[number]): NamingSignature {
  return {
    signature,
    failed: err != null,
    blockTime: blockTime == null ? undefined : new Date(blockTime * 1000),
  }
}

function successful(page: Page): string[] {
  return page.filter(({ err }) => err == null).map(({ signature }) => signature)
}
