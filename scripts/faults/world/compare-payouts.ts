import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { heldStates, type SendState } from '../../../src/outgoing/lifecycle.js'
import { query } from '../../../src/platform/database/database.js'
import { waitsForDispute } from '../../../src/withdrawals/work-queue.js'
import { countBy } from '../../kit/report.js'
import type { Fiatpay } from '../../sandbox/fiatpay/fiatpay.js'
import type { Truth } from './truth.js'

type Transfer = ReturnType<Fiatpay['log']>['transfers'][number]

interface Row {
  readonly reference: string
  readonly providerReference: string
  readonly status: string
  readonly sendState: SendState
  readonly netKobo: bigint
  readonly keyHash: Buffer
  readonly failureReason: string | null
  readonly hasOpenReview: boolean
  /** It waits for a dispute or a debt of its creator. */
  readonly waits: boolean
}

interface Comparison {
  /** Broken promises. Empty when all is well. */
  readonly faults: readonly string[]
  readonly withdrawals: number
  /** Withdrawals by final state. */
  readonly endings: Readonly<Record<string, number>>
}

/** Compares every withdrawal with what the provider did. */
export async function compareTransfers(db: Knex, transfers: readonly Transfer[]): Promise<Comparison> {
  const rows = await readRows(db)
  const references = new Set(rows.map(({ providerReference }) => providerReference))
  return {
    faults: [
      ...transfers
        .filter(({ reference }) => !references.has(reference))
        .map(({ reference }) => `${reference} was sent, but no withdrawal has this reference`),
      ...rows.flatMap((row) => {
        const sent = transfers.filter(({ reference }) => reference === row.providerReference)
        const isHeld = row.waits || heldStates.includes(row.sendState)
        const fault = isHeld ? faultOfHeld(sent) : faultOf(row, sent)
        return fault === undefined ? [] : [`${row.reference} (${row.status}/${row.sendState}) ${fault}`]
      }),
    ],
    withdrawals: rows.length,
    endings: countBy(rows.map(({ status, sendState }) => (status === 'pending' ? sendState : status))),
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
  return row.hasOpenReview ? undefined : 'waits for an operator without an open review'
}

/** Checks that every final answer belongs to one withdrawal with that state, and that there are no further withdrawals. */
export async function answerFaults(db: Knex, { withdrawals }: Truth): Promise<string[]> {
  const rows = await readRows(db)
  const byKey = new Map(rows.map((row) => [row.keyHash.toString('hex'), row]))
  // A withdrawal was made.
  const answers = withdrawals.filter(({ status }) => status === 200 || status === 502)
  const faults = answers.flatMap(({ userId, key, status, reference, error }) => {
    const hash = createHash('sha256').update(`/payouts/withdraw ${userId}\n${key}`).digest('hex')
    const row = byKey.get(hash)
    if (row === undefined) return [`key ${key} was answered ${status} ${error ?? ''} and has no withdrawal`]
    if (status === 200 && row.reference !== reference)
      return [`${row.reference} was answered with the reference ${reference}`]
    if (status === 502 && (row.status !== 'failed' || row.failureReason !== error))
      return [`${row.reference} was answered 502 ${error} and is ${row.status}`]
    return []
  })
  return rows.length === answers.length
    ? faults
    : [...faults, `${answers.length} requests were answered and there are ${rows.length} withdrawals`]
}

function readRows(db: Knex): Promise<Row[]> {
  return query<Row>(db, {
    name: 'faults.rows',
    text: /* sql */ `
      select w.reference, w.provider_reference as "providerReference", w.status, w.send_state as "sendState",
        w.net_kobo as "netKobo", w.key_hash as "keyHash", w.failure_reason as "failureReason",
        exists (select from review_items r where r.withdrawal_id = w.id and r.resolved_at is null) as "hasOpenReview",
        ${waitsForDispute('w')} as waits
      from withdrawals w`,
    values: [],
  })
}
