import type { Knex } from 'knex'
import type { CustodyMove } from '../../ledger/custody.js'
import { query } from '../../platform/database/database.js'
import type { DueRows } from '../../platform/database/due-rows.js'
import { openSweeps, type SweepState } from './lifecycle.js'

export const sweepQueue: DueRows = {
  name: 'sweeps',
  table: 'sweeps',
  id: 'uuid',
  batchSize: 16,
  leaseSeconds: 30,
  columns: /* sql */ `
    t.id, t.state, t.payer, t.mint, t.treasury, t.signature, t.last_valid_height as "lastValidHeight",
    t.attempts, t.expired_at is not null as expired`,
  onFinish: { columns: { error: 'text' }, set: 'last_error = s.error' },
}

export interface DueSweep {
  readonly id: string
  readonly state: SweepState
  readonly payer: string
  readonly mint: string
  readonly treasury: string
  readonly signature: string | null
  readonly lastValidHeight: bigint | null
  readonly attempts: number
  readonly expired: boolean
}

export interface SweepPart extends CustodyMove {
  readonly wallet: string | null
}

/** In the order of the user ids, which is also the order of the payments. */
export async function readParts(db: Knex, sweepId: string): Promise<SweepPart[]> {
  const rows = await query<{ userId: string; mint: string; amount: string; wallet: string | null }>(db, {
    name: 'sweeps.parts',
    text: /* sql */ `
      select p.user_id as "userId", s.mint, p.amount::text, w.public_key as wallet
      from sweep_parts p join sweeps s on s.id = p.sweep_id left join wallets w on w.user_id = p.user_id
      where p.sweep_id = $1 order by p.user_id`,
    values: [sweepId],
  })
  return rows.map(({ amount, ...row }) => ({ ...row, amount: BigInt(amount) }))
}

/** Locks a sweep. Returns its state; undefined when there is none. */
export async function lockSweep(trx: Knex.Transaction, id: string): Promise<SweepState | undefined> {
  const [row] = await query<{ state: SweepState }>(trx, {
    name: 'sweeps.lock',
    text: 'select state from sweeps where id = $1 for update',
    values: [id],
  })
  return row?.state
}

/** A sweep as the operators' command shows, completes and sends it. */
export interface SweepRow {
  readonly id: string
  readonly state: SweepState
  readonly payer: string
  readonly message: Buffer | null
  readonly signatures: Readonly<Record<string, string>> | null
  readonly signature: string | null
  readonly lastValidHeight: bigint | null
  readonly failure: string | null
  readonly lastError: string | null
  /** It can no longer land, and a person decides whether it did. */
  readonly undecided: boolean
  readonly creators: number
  readonly units: bigint
  readonly ageSeconds: number
}

const sweepColumns = /* sql */ `
  s.id, s.state, s.payer, s.message, s.signatures, s.signature, s.last_valid_height as "lastValidHeight", s.failure, s.last_error as "lastError",
  s.expired_at is not null and s.ended_at is null as undecided, p.creators::int as creators, p.units::text as units,
  extract(epoch from clock_timestamp() - s.created_at)::float8 as "ageSeconds"
  from sweeps s cross join lateral (
    select count(*) as creators, sum(amount) as units from sweep_parts where sweep_id = s.id) p`

type Stored = Omit<SweepRow, 'units'> & { readonly units: string }

const shown = ({ units, ...row }: Stored): SweepRow => ({ ...row, units: BigInt(units) })

/** The sweeps that are not at their end, and those named. Oldest first. */
export async function listSweeps(db: Knex, ids: readonly string[] = []): Promise<SweepRow[]> {
  const rows = await query<Stored>(db, {
    name: 'sweeps.list',
    text: `select ${sweepColumns} where s.state in (${openSweeps}) or s.id = any($1::uuid[]) order by s.created_at, s.id`,
    values: [ids],
  })
  return rows.map(shown)
}

/** How long sweeps are shown that moved nothing: one of them that did land explains what a wallet lacks. */
export const lostDays = 30

/** Those that moved nothing, newest first. */
export async function listLostSweeps(db: Knex): Promise<SweepRow[]> {
  const rows = await query<Stored>(db, {
    name: 'sweeps.lost',
    text: /* sql */ `
      select ${sweepColumns} where s.state in ('dead', 'failed') and s.ended_at > now() - $1::int * interval '1 day'
      order by s.ended_at desc, s.id limit 100`,
    values: [lostDays],
  })
  return rows.map(shown)
}
