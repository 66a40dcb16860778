import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { ProviderError } from '../kernel/provider-error.js'
import { solMint, tokens } from '../kernel/tokens.js'
import { query } from '../platform/database/database.js'
import type { ChainTransaction } from '../ports/chain.js'
import type { Services } from '../services.js'
import { ownersOf } from '../tips/confirm/credit-tips.js'
import { namedIn } from '../tips/verify/load-match-context.js'

type Needs = Pick<Services, 'db' | 'chain' | 'custodyChain'>

/**
 * Whether anything comes of a signature that somebody reported and no tip was confirmed for: the verifier still checks it or its money
 * is credited, or it was given up.
 */
export type ClaimOutlook = 'settles' | 'given_up'

/** Transactions of some custody wallets that are no tip, sweep or take-out of the rows. */
export interface UnknownTransactions {
  /** How many wallets were walked so far. */
  readonly wallets: number
  readonly transactions: readonly ChainTransaction[]
  /** Those that were reported, by signature. Anybody reports any signature, so this says nothing about the transaction. */
  readonly claims: ReadonlyMap<string, ClaimOutlook>
  /** The users of the custody wallets that they name, by wallet. */
  readonly owners: ReadonlyMap<string, string>
  /** Signatures that could not be read, and addresses that have more than anybody reads. */
  readonly unread: readonly string[]
}

const walletsPerPage = 200
/** The most that a node accepts in one request. */
const accountsPerRead = 100
const triesMax = 4
const pauseMs = 1000

/**
 * Walks every custody wallet and its token accounts back to a moment, and yields the successful transactions that are no tip, sweep
 * or take-out of the rows, each once. Throws ProviderError when a wallet cannot be read: what is not read is not compared; and when an
 * endpoint does not answer or is behind another one: it would hide the newest transactions.
 */
export async function* walkCustody(
  { db, chain, custodyChain }: Needs,
  since: Date,
): AsyncGenerator<UnknownTransactions, void> {
  const seen = new Set<string>()
  for (let after = '', walked = 0; ; ) {
    const wallets = await readWallets(db, after)
    if (wallets.length === 0) return
    // It throws while the endpoints are at different heights.
    await custodyChain.freshBlockhash()
    after = wallets.at(-1) ?? ''
    walked += wallets.length
    const { signatures, endless } = await readSignatures(chain, await addressesOf(chain, wallets), since)
    const fresh = signatures.filter((signature) => !seen.has(signature))
    const { unknown, claims } = await leaveOutKnown(db, fresh)
    for (const signature of unknown) seen.add(signature)
    const found = await readTransactions(chain, unknown)
    const transactions = [...found.values()]
    yield {
      wallets: walked,
      transactions,
      claims,
      owners: await ownersOf(db, [...new Set(transactions.flatMap(namedIn))]),
      unread: [...endless, ...unknown.filter((signature) => !found.has(signature))],
    }
  }
}

async function readWallets(db: Knex, after: string): Promise<string[]> {
  const rows = await query<{ wallet: string }>(db, {
    name: 'restore.wallets',
    text: `select public_key as wallet from wallets where public_key > $1 order by public_key limit ${walletsPerPage}`,
    values: [after],
  })
  return rows.map(({ wallet }) => wallet)
}

/** The wallets, their accounts of wrapped SOL, which a take-out closes, and those of listed tokens that exist: nothing closes one. */
async function addressesOf(chain: Needs['chain'], wallets: readonly string[]): Promise<string[]> {
  const accounts = wallets.flatMap((wallet) =>
    tokens.filter(({ mint }) => mint !== solMint).map(({ mint }) => chain.associatedAccount(wallet, mint)),
  )
  const addresses = [...wallets, ...wallets.map((wallet) => chain.associatedAccount(wallet, solMint))]
  for (let at = 0; at < accounts.length; at += accountsPerRead) {
    const some = accounts.slice(at, at + accountsPerRead)
    addresses.push(...(await again(() => chain.tokenAccounts(some))))
  }
  return addresses
}

async function readSignatures(
  chain: Needs['chain'],
  addresses: readonly string[],
  since: Date,
): Promise<{ signatures: string[]; endless: string[] }> {
  const signatures = new Set<string>()
  const endless: string[] = []
  for (let left = addresses, tries = 1; left.length > 0; ) {
    const asked = left
    const found = await again(() => chain.signaturesSince(asked, since))
    for (const [address, { signatures: some, whole }] of found) {
      for (const signature of some) signatures.add(signature)
      if (!whole) endless.push(address)
    }
    left = left.filter((address) => !found.has(address))
    if (left.length > 0 && found.size === 0 && tries++ === triesMax)
      throw new ProviderError('unavailable', `the chain does not say what names ${left[0]}`)
  }
  return { signatures: [...signatures], endless }
}

async function leaveOutKnown(
  db: Knex,
  signatures: readonly string[],
): Promise<{ unknown: string[]; claims: Map<string, ClaimOutlook> }> {
  const rows = await query<{ signature: string; outlook: ClaimOutlook | null }>(db, {
    name: 'restore.unknown-signatures',
    text: /* sql */ `
      select s.signature, case
          when t.due_at is not null or t.further_credits is not null then 'settles'
          when t.id is not null then 'given_up' end as outlook
      from unnest($1::text[]) as s(signature) left join tips t on t.id = s.signature
      where (t.id is null or t.status <> 'confirmed')
        and not exists (select from sweeps w where w.signature = s.signature)
        and not exists (select from wallet_transfers w where w.signature = s.signature)`,
    values: [signatures],
  })
  return {
    unknown: rows.map(({ signature }) => signature),
    claims: new Map(
      rows.flatMap(({ signature, outlook }) => (outlook === null ? [] : [[signature, outlook]])),
    ),
  }
}

/** Those that an endpoint has. One endpoint may be behind another, so what is missing is asked for again. */
async function readTransactions(
  chain: Needs['chain'],
  signatures: readonly string[],
): Promise<Map<string, ChainTransaction>> {
  const found = new Map<string, ChainTransaction>()
  for (let tries = 1; found.size < signatures.length && tries <= triesMax; tries++) {
    if (tries > 1) await sleep(pauseMs)
    const missing = signatures.filter((signature) => !found.has(signature))
    for (const [signature, transaction] of await again(() => chain.transactions(missing)))
      found.set(signature, transaction)
  }
  return found
}

/** A walk of many wallets does not begin anew because of one failure. */
async function again<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ProviderError) || tries === triesMax) throw error
      await sleep(tries * pauseMs)
    }
}
