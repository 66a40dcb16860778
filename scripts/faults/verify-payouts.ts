import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { checkBooks } from '../../src/ledger/invariants.js'
import { query } from '../../src/platform/database/database.js'
import type { Fiatpay } from '../sandbox/fiatpay/fiatpay.js'
import type { Answered } from './client.js'

type Transfer = ReturnType<Fiatpay['log']>['transfers'][number]

interface Row {
  readonly reference: string
  readonly providerReference: string
  readonly status: string
  readonly sendState: string
  readonly netKobo: bigint
  readonly keyHash: Buffer
  readonly failureReason: string | null
  readonly open: readonly string[]
}

/** A wish that was answered, and whose it was. */
export interface Wish extends Answered {
  readonly userId: string
}

export interface Verdict {
  /** What must never be; empty when all is well. */
  readonly faults: readonly string[]
  readonly withdrawals: number
  readonly executed: number
  /** Withdrawals by how they ended. */
  readonly endings: Readonly<Record<string, number>>
}

/** Compares every withdrawal with what the provider did, what callers were told, and the ledger. */
export async function verifyPayouts(
  db: Knex,
  transfers: readonly Transfer[],
  wishes: readonly Wish[],
  fundedMicro: ReadonlyMap<string, bigint>,
): Promise<Verdict> {
  const rows = await readRows(db)
  const sent = new Map<string, Transfer[]>()
  for (const transfer of transfers)
    sent.set(transfer.reference, [...(sent.get(transfer.reference) ?? []), transfer])
  const references = new Set(rows.map(({ providerReference }) => providerReference))
  const endings: Record<string, number> = {}
  for (const row of rows) {
    const ending = row.status === 'pending' ? row.sendState : row.status
    endings[ending] = (endings[ending] ?? 0) + 1
  }
  return {
    faults: [
      ...[...sent.keys()]
        .filter((reference) => !references.has(reference))
        .map((reference) => `${reference} was sent and is no withdrawal of ours`),
      ...rows.flatMap((row) => {
        const fault = faultOf(row, sent.get(row.providerReference) ?? [])
        return fault === undefined ? [] : [`${row.reference} (${row.status}/${row.sendState}) ${fault}`]
      }),
      ...wishFaults(rows, wishes),
      ...(await balanceFaults(db, fundedMicro)),
      ...(await bookFaults(db)),
    ],
    withdrawals: rows.length,
    executed: transfers.length,
    endings,
  }
}

/** The one rule of all: money leaves at most once, and a withdrawal ends where its money is. */
function faultOf(row: Row, sent: readonly Transfer[]): string | undefined {
  const [transfer] = sent
  if (sent.length > 1) return `WAS SENT ${sent.length} TIMES`
  if (transfer !== undefined && BigInt(transfer.amountKobo) !== row.netKobo)
    return 'was sent with another amount'
  const paid = transfer?.status === 'success'
  const returned = transfer?.status === 'failed' || transfer?.status === 'reversed'
  if (row.status === 'completed')
    return paid ? undefined : `is completed and ${transfer?.status ?? 'was never sent'}`
  if (row.status === 'failed')
    return transfer === undefined || returned ? undefined : `is failed and ${transfer.status}`
  if (row.sendState !== 'manual_review') return 'came to no end'
  if (transfer !== undefined) return `waits for an operator and ${transfer.status}`
  return row.open.length > 0 ? undefined : 'waits for an operator whom nobody called'
}

/** Every answered wish is one withdrawal, and every withdrawal was wished for. */
function wishFaults(rows: readonly Row[], wishes: readonly Wish[]): string[] {
  const byKey = new Map(rows.map((row) => [row.keyHash.toString('hex'), row]))
  const faults = wishes.flatMap(({ userId, key, status, reference, error }) => {
    const hash = createHash('sha256').update(`/payouts/withdraw ${userId}\n${key}`).digest('hex')
    const row = byKey.get(hash)
    if (row === undefined) return [`key ${key} was answered ${status} ${error ?? ''} and holds no withdrawal`]
    if (status === 200 && row.reference !== reference)
      return [`${row.reference} was answered as ${reference}`]
    if (status === 502 && (row.status !== 'failed' || row.failureReason !== error))
      return [`${row.reference} was answered 502 ${error} and is ${row.status}`]
    return status === 200 || status === 502 ? [] : [`${row.reference} was answered ${status} ${error}`]
  })
  if (rows.length !== wishes.length)
    faults.push(`${wishes.length} wishes were answered and there are ${rows.length} withdrawals`)
  return faults
}

/** What somebody has is what they had, less what left or is held. */
async function balanceFaults(db: Knex, funded: ReadonlyMap<string, bigint>): Promise<string[]> {
  const rows = await query<{ userId: string; kind: string; balance: bigint; spent: bigint; held: bigint }>(
    db,
    {
      name: 'faults.balances',
      text: /* sql */ `
      select a.user_id as "userId", a.kind, a.balance,
        coalesce((select sum(debit_micro) from withdrawals w where w.user_id = a.user_id and status <> 'failed'), 0)::int8 as spent,
        coalesce((select sum(debit_micro) from withdrawals w where w.user_id = a.user_id
          and status in ('pending', 'submitted', 'processing')), 0)::int8 as held
      from ledger_accounts a where a.user_id is not null and a.currency = 'USDC' and a.kind in ('available', 'held')`,
      values: [],
    },
  )
  return rows.flatMap(({ userId, kind, balance, spent, held }) => {
    const expected = kind === 'held' ? held : (funded.get(userId) ?? 0n) - spent
    return balance === expected ? [] : [`user ${userId} has ${balance} ${kind} instead of ${expected}`]
  })
}

async function bookFaults(db: Knex): Promise<string[]> {
  const { invariants } = await checkBooks(db)
  return invariants
    .filter(({ violations }) => violations > 0n)
    .map(({ name }) => `the books are broken: ${name}`)
}

function readRows(db: Knex): Promise<Row[]> {
  return query<Row>(db, {
    name: 'faults.rows',
    text: /* sql */ `
      select w.reference, w.provider_reference as "providerReference", w.status, w.send_state as "sendState",
        w.net_kobo as "netKobo", w.key_hash as "keyHash", w.failure_reason as "failureReason",
        array(select r.kind from review_items r where r.withdrawal_id = w.id and r.resolved_at is null) as open
      from withdrawals w`,
    values: [],
  })
}
