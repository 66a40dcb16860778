import type { Knex } from 'knex'
import { query } from '../platform/db.js'
import type { Drain } from '../platform/drain-loop.js'
import type { ChainTransaction, SignatureStatus } from '../providers/chain/port.js'
import type { Services } from '../services.js'
import { type Confirmation, confirmTips } from './confirm.js'
import { type DueTip, finishLooks, type Look, nextDueIn, takeDueTips } from './due.js'
import { fillMessages } from './late-message.js'
import { type IssuedIntent, matchTip } from './match.js'

type Needs = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'metrics'>

/** A transaction seen but not yet confirmed: the next slot is 400 ms away. */
const soonMs = 200
const leastMs = 250
const mostMs = 30 * 60_000
const hourMs = 3_600_000

/**
 * One drain of the verifier: take what is due, look at the chain in batches, write down what was found. In this
 * order - look, call, transact - and a crash anywhere leaves rows that come due again by themselves.
 */
export function createVerifierDrain(services: Needs): Drain {
  return async () => {
    const { now, tips } = await takeDueTips(services.db)
    if (tips.length === 0) return { taken: 0, nextDueMs: await nextDueIn(services.db) }
    const pending = tips.filter(({ status }) => status === 'pending')
    const answers = await askChain(
      services.chain,
      pending.map(({ id }) => id),
    )
    const confirmations = await matchTips(services, pending, answers.transactions, now)

    await confirmTips(services, confirmations)
    await fillMessages(
      services,
      tips.filter(({ status }) => status === 'confirmed'),
    )
    const confirmed = new Set(confirmations.map(({ id }) => id))
    const giveUpMs = services.config.tips.claimWindowHours * hourMs
    const looks = tips.filter(({ id }) => !confirmed.has(id)).map((tip) => lookOf(tip, answers, giveUpMs))
    await finishLooks(services.db, looks)
    // The tips are put off already; whoever runs the drain counts the failure and pauses.
    if (answers.failure !== undefined) throw answers.failure
    return { taken: tips.length }
  }
}

interface ChainAnswers {
  readonly statuses: ReadonlyMap<string, SignatureStatus | undefined>
  readonly transactions: ReadonlyMap<string, ChainTransaction>
  readonly failure: unknown
}

/**
 * Asks for statuses and for what has landed. A chain that gives no usable answer gives none about these tips: they are
 * looked at again soon, not at the end of the lease.
 */
async function askChain(chain: Needs['chain'], ids: readonly string[]): Promise<ChainAnswers> {
  let failure: unknown
  function orNone<T>(asked: Promise<Map<string, T>>): Promise<Map<string, T>> {
    return asked.catch((error: unknown) => {
      failure = error
      return new Map()
    })
  }
  const statuses = await orNone(chain.statuses(ids))
  const transactions = await orNone(chain.transactions(ids.filter((id) => isLanded(statuses.get(id)))))
  return { statuses, transactions, failure }
}

function isLanded(status: SignatureStatus | undefined): boolean {
  return status !== undefined && !status.failed && status.commitment !== 'processed'
}

/** What follows from a look at a tip that was not confirmed by it. Not knowing is "later", never a verdict. */
function lookOf(tip: DueTip, { statuses, transactions }: ChainAnswers, giveUpMs: number): Look {
  const { id, attempts, ageMs } = tip
  const done = (outcome: Look['outcome']): Look => ({ id, attempts, dueInMs: null, outcome })
  const later = (dueInMs: number): Look => ({ id, attempts, dueInMs, outcome: null })
  if (tip.status !== 'pending') return done(null)
  if (!statuses.has(id)) return later(patience(ageMs))
  const [status, transaction] = [statuses.get(id), transactions.get(id)]
  if (status === undefined) return ageMs > giveUpMs ? done('not_found') : later(patience(ageMs))
  if (status.commitment === 'processed') return later(soonMs)
  if (status.failed || transaction?.failed === true) return done('tx_failed')
  // A node may know a fresh transaction before it knows its time, and a claim counts only with one.
  return transaction?.blockTime === undefined ? later(patience(ageMs)) : done('mismatch')
}

/** An eighth of the tip's age: a fresh one is looked for four times a second, a junk signature ever more rarely. */
function patience(ageMs: number): number {
  return Math.min(mostMs, Math.max(leastMs, ageMs / 8))
}

async function matchTips(
  { db, chain, config }: Needs,
  tips: readonly DueTip[],
  transactions: ReadonlyMap<string, ChainTransaction>,
  now: Date,
): Promise<Confirmation[]> {
  const readable = tips.filter(({ id }) => transactions.get(id)?.failed === false)
  if (readable.length === 0) return []
  const accounts = [...new Set(readable.flatMap(({ id }) => [...(transactions.get(id)?.accounts ?? [])]))]
  const known = await readKnown(db, accounts)
  const notBefore = new Date(now.getTime() - config.tips.claimWindowHours * hourMs)
  return readable.flatMap(({ id, claims }) => {
    const transaction = transactions.get(id) as ChainTransaction
    const intents = known.intents.filter(({ referenceKey }) => transaction.accounts.has(referenceKey))
    const creators = new Set(known.creators.filter((wallet) => transaction.accounts.has(wallet)))
    const facts = matchTip(chain, {
      transaction,
      intents,
      claims,
      creators,
      treasury: config.tips.treasuryWallet,
      notBefore,
    })
    return facts === undefined ? [] : [{ id, claims, transaction, facts }]
  })
}

interface Known {
  readonly intents: readonly (IssuedIntent & { readonly referenceKey: string })[]
  readonly creators: readonly string[]
}

/** What we know of the accounts these transactions name: issued reference keys and creators' wallets. */
async function readKnown(db: Knex, accounts: readonly string[]): Promise<Known> {
  const [row] = await query<Known>(db, {
    name: 'tips.known',
    text: /* sql */ `
      select (select coalesce(json_agg(json_build_object('id', id, 'payoutWallet', payout_wallet,
                     'sourceWallet', source_wallet, 'outputMint', output_mint,
                     'referenceKey', reference_key) order by created_at), '[]')
              from payment_intents where reference_key = any($1::text[])) as intents,
             array(select public_key from wallets where public_key = any($1::text[])) as creators`,
    values: [accounts],
  })
  return row as Known
}
