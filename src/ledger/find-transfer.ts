import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import type { Currency, Entry } from './accounts.js'
import type { Transfer } from './check-transfer.js'

/** The transfer with this idem, as it was posted. */
export async function findTransfer(
  db: Knex,
  idem: string,
): Promise<(Transfer & { readonly id: bigint }) | undefined> {
  type Row = Entry['account'] &
    Pick<Transfer, 'kind' | 'ref'> & {
      id: bigint
      resolves: string | null
      amount: bigint
      accountKind: Entry['account']['kind']
    }
  const rows = await query<Row>(db, {
    name: 'ledger.transfer',
    text: /* sql */ `
      select t.id, t.kind, t.ref, r.idem as resolves, a.user_id as "userId", a.kind as "accountKind", a.currency, e.amount
      from ledger_transfers t left join ledger_transfers r on r.id = t.resolves
      join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
      where t.idem = $1`,
    values: [idem],
  })
  const [first] = rows
  if (first === undefined) return undefined
  const { id, kind, ref, resolves } = first
  const entries = rows.map(({ userId, accountKind, currency, amount }) => ({
    account: { userId, kind: accountKind, currency },
    amount,
  }))
  return { id, idem, kind, ref, ...(resolves === null ? {} : { resolves }), entries }
}

/** Pending money of one user. */
export interface Reserved {
  readonly idem: string
  readonly ref: string
  readonly userId: string
  readonly currency: Currency
  readonly amount: bigint
}

/** What the reserves with these idems put into users' pending accounts. */
export async function findReserved(db: Knex, idems: readonly string[]): Promise<Reserved[]> {
  if (idems.length === 0) return []
  return query(db, {
    name: 'ledger.reserved',
    text: /* sql */ `
      select t.idem, t.ref, a.user_id as "userId", a.currency, e.amount
      from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
      where t.idem = any($1::text[]) and t.kind = 'reserve' and a.kind = 'pending' and a.user_id is not null and e.amount > 0`,
    values: [idems],
  })
}
