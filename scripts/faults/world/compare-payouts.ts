import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { sqlList } from '../../../src/kernel/state-machine.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { heldStates, openStatuses, type SendState } from '../../../src/outgoing/lifecycle.js'
import { query } from '../../../src/platform/database/database.js'
import { waitsForDispute } from '../../../src/withdrawals/work-queue.js'
import type { WithdrawalAnswer } from '../../kit/client.js'
import type { Fiatpay } from '../../sandbox/fiatpay/fiatpay.js'

type Transfer = ReturnType<Fiatpay['log']>['transfers'][number]

interface Row {
  readonly reference: string
  readonly providerReference: string
  readonly status: string
  readonly sendState: SendState
  readonly netKobo: bigint
  readonly keyHash: Buffer
  readonly failureReason: string | null
  readonly open: readonly string[]
  /** It waits for a dispute or a debt of its creator. */
  readonly waits: boolean
}

/** A final answer to a withdrawal, and the user who requested it. */
export interface CreatorAnswer extends WithdrawalAnswer {
  readonly userId: string
}

export interface Comparison {
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
  readonly withdrawals: number
  readonly executed: number
  /** Withdrawals by final state. */
  readonly endings: Readonly<Record<string, number>>
}

/** Compares every withdrawal with what the provider did and with the ledger. */
export async function compareMoney(
  db: Knex,
  transfers: readonly Transfer[],
  fundedMicro: ReadonlyMap<string, bigint>,
): Promise<Comparison> {
  const compared = await compareTransfers(db, transfers)
  const faults = [...compared.faults, ...(await balanceFaults(db, fundedMicro)), ...(await ledgerFaults(db))]
  return { ...compared, faults }
}

/** Compares every withdrawal with what the provider did. */
export async function compareTransfers(db: Knex, transfers: readonly Transfer[]): Promise<Comparison> {
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
        .map((reference) => `${reference} was sent, but no withdrawal has this reference`),
      ...rows.flatMap((row) => {
        const transfers = sent.get(row.providerReference) ?? []
        const isHeld = row.waits || heldStates.includes(row.sendState)
        const fault = isHeld ? faultOfHeld(transfers) : faultOf(row, transfers)
        return fault === undefined ? [] : [`${row.reference} (${row.status}/${row.sendState}) ${fault}`]
      }),
    ],
    withdrawals: rows.length,
    executed: transfers.length,
    endings,
  }
}

function faultOfHeld(sent: readonly Transfer[]): string | undefined {
  return sent.length === 0 ? undefined : 'is held, and WAS SENT'
}

/** Checks the main rule: a withdrawal is sent at most once, and its final state says where the money is. */
function faultOf(row: Row, sent: readonly Transfer[]): string | undefined {
  const [transfer] = sent
  if (sent.length > 1) return `WAS SENT ${sent.length} TIMES`
  if (transfer !== undefined && BigInt(transfer.amountKobo) !== row.netKobo)
    return 'was sent with another amount'
  const paid = transfer?.status === 'success'
  const returned = transfer?.status === 'failed' || transfer?.status === 'reversed'
  if (row.status === 'completed')
    return paid ? undefined : `is completed, but the provider's transfer is ${transfer?.status ?? 'missing'}`
  if (row.status === 'failed')
    return transfer === undefined || returned
      ? undefined
      : `is failed, but the transfer is ${transfer.status}`
  if (row.sendState !== 'manual_review') return 'did not end'
  if (transfer !== undefined) return `waits for an operator, but the transfer is ${transfer.status}`
  return row.open.length > 0 ? undefined : 'waits for an operator without an open review'
}

/** Checks that every final answer belongs to one withdrawal with that state, and that there are no further withdrawals. */
export async function answerFaults(db: Knex, answers: readonly CreatorAnswer[]): Promise<string[]> {
  const rows = await readRows(db)
  const byKey = new Map(rows.map((row) => [row.keyHash.toString('hex'), row]))
  const faults = answers.flatMap(({ userId, key, status, reference, error }) => {
    const hash = createHash('sha256').update(`/payouts/withdraw ${userId}\n${key}`).digest('hex')
    const row = byKey.get(hash)
    if (row === undefined) return [`key ${key} was answered ${status} ${error ?? ''} and has no withdrawal`]
    if (status === 200 && row.reference !== reference)
      return [`${row.reference} was answered with the reference ${reference}`]
    if (status === 502 && (row.status !== 'failed' || row.failureReason !== error))
      return [`${row.reference} was answered 502 ${error} and is ${row.status}`]
    return status === 200 || status === 502 ? [] : [`${row.reference} was answered ${status} ${error}`]
  })
  if (rows.length !== answers.length)
    faults.push(`${answers.length} requests were answered and there are ${rows.length} withdrawals`)
  return faults
}

/** Checks that each user's balances are the funded amount less what was paid out or is held. */
async function balanceFaults(db: Knex, funded: ReadonlyMap<string, bigint>): Promise<string[]> {
  const rows = await query<{ userId: string; kind: string; balance: bigint; spent: bigint; held: bigint }>(
    db,
    {
      name: 'faults.balances',
      text: /* sql */ `
      select a.user_id as "userId", a.kind, a.balance,
        coalesce((select sum(debit_micro) from withdrawals w where w.user_id = a.user_id and status <> 'failed'), 0)::int8 as spent,
        coalesce((select sum(debit_micro) from withdrawals w where w.user_id = a.user_id
          and status in (${sqlList(openStatuses)})), 0)::int8 as held
      from ledger_accounts a where a.user_id is not null and a.currency = 'USDC' and a.kind in ('available', 'held')`,
      values: [],
    },
  )
  return rows.flatMap(({ userId, kind, balance, spent, held }) => {
    const expected = kind === 'held' ? held : (funded.get(userId) ?? 0n) - spent
    return balance === expected ? [] : [`user ${userId} has ${balance} ${kind} instead of ${expected}`]
  })
}

async function ledgerFaults(db: Knex): Promise<string[]> {
  const { invariants } = await checkBooks(db)
  return invariants
    .filter(({ violations }) => violations > 0n)
    .map(({ name }) => `an invariant of the ledger does not hold: ${name}`)
}

function readRows(db: Knex): Promise<Row[]> {
  return query<Row>(db, {
    name: 'faults.rows',
    text: /* sql */ `
      select w.reference, w.provider_reference as "providerReference", w.status, w.send_state as "sendState",
        w.net_kobo as "netKobo", w.key_hash as "keyHash", w.failure_reason as "failureReason",
        array(select r.kind from review_items r where r.withdrawal_id = w.id and r.resolved_at is null) as open,
        ${waitsForDispute('w')} as waits
      from withdrawals w`,
    values: [],
  })
}
