import type pg from 'pg'
import type { DataKeys } from '../../src/kernel/personal-data.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { sealAccount } from '../../src/withdrawals/bank-account.js'

/** The creator whose lists are measured, and who receives a third of all rows. */
export interface BusyCreator {
  readonly userId: string
  readonly wallet: string
  readonly dataKeys: DataKeys
}

/** The time over which the rows are spread, up to now. The same at every size, so that a day's sums are equally many. */
export const historyDays = 730

const chunk = 1_000_000
/** The other people. As many at every size, because only the number of tips is measured. */
const others = 300_000
const tables = ['tips', 'tip_sums', 'ledger_transfers', 'ledger_entries', 'withdrawals']
const mint = (symbol: string): string => `'${tokenBySymbol(symbol)?.mint}'`
const owner = (isCreator: string, creator: string, other: string): string =>
  `case when ${isCreator} then ${creator} else ${other} end`

/**
 * Fills a migrated, empty database by statements on the server: `rows` tips, a tenth as many ledger transfers, a hundredth as
 * many withdrawals. Everybody but the creator has few tips, so that a plan for the average owner would be wrong for
 * the creator. Indexes are built after the rows. One transaction that begins by emptying the tables writes no WAL
 * (`wal_level=minimal`). Keys grow with the row number, because a random key of ten million rows costs minutes.
 */
export async function fillLists(
  client: pg.Client,
  { userId, wallet, dataKeys }: BusyCreator,
  rows: number,
  report: (progress: string) => void,
): Promise<void> {
  // Triggers and foreign keys are off: each would look up ten million rows one by one.
  await client.query(
    `begin; set local session_replication_role = replica; set local maintenance_work_mem = '1GB'; set local jit = off;
     set local client_min_messages = error; truncate ${tables.join()} cascade`,
  )
  const indexes = await dropIndexes(client)
  await client.query(`insert into parties (wallet) select 'other' || n from generate_series(1, ${others}) n`)
  await client.query('update parties set wallet = $2 where user_id = $1', [userId, wallet])
  await client.query(
    `insert into prices (mint, usd, source, as_of) values (${mint('SOL')}, 150, 'bench', now()), (${mint('BONK')}, 0.00002, 'bench', now()),
       (${mint('JitoSOL')}, 180, 'bench', now()) on conflict do nothing`,
  )
  const { rows: found } = await client.query(
    `select (select id from parties where user_id = $1) as creator, (select min(id) from parties where user_id is null) as first`,
    [userId],
  )
  const { creator, first } = found[0]
  for (let from = 0; from < rows; from += chunk) {
    await client.query(insertTips({ creator, first, rows, from, to: Math.min(from + chunk, rows) }))
    report(`${Math.min(from + chunk, rows)} of ${rows} tips`)
  }
  await client.query(`
    insert into tip_sums (party_id, hour, mint, decimals, count, raw)
    select recipient_party, date_trunc('hour', recorded_at, 'UTC'), mint, min(decimals), count(*), sum(display_raw)
    from tips where status = 'confirmed' group by 1, 2, 3`)
  report('sums')
  await insertLedger(client, userId, Math.ceil(rows / 10))
  await insertWithdrawals(client, { userId, dataKeys }, Math.ceil(rows / 100))
  report('ledger and withdrawals')
  for (const { name, definition } of indexes) {
    await client.query(definition)
    report(`index ${name}`)
  }
  await client.query('commit')
  await client.query('vacuum analyze')
  report('vacuum analyze')
}

async function dropIndexes(client: pg.Client): Promise<{ name: string; definition: string }[]> {
  const { rows } = await client.query(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = any($1) and indexname not in (select conname from pg_constraint)`,
    [tables],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  return rows
}

interface Range {
  readonly creator: bigint
  readonly first: bigint
  readonly rows: number
  readonly from: number
  readonly to: number
}

/**
 * Of every 100 tips of the creator: 10 in naira (of which 5 % each are pending, failed and cancelled), the rest in five tokens. The
 * rare ones come in some hours only, in which they come at every size: the sums of an hour and a token are equally many.
 */
function insertTips({ creator, first, rows, from, to }: Range): string {
  const stepMs = (historyDays * 24 * 3600 * 1000) / rows
  const other = `${first} + (n * 7919) % ${others}`
  return /* sql */ `
    insert into tips (id, kind, status, recorded_at, creator_wallet, sender, amount, token_symbol, message, claim_hash,
      recipient_party, sender_party, received_raw, display_raw, decimals, mint, slot, block_time, fee_found, confirmed_at,
      finalized_at, due_at)
    select lpad(n::text, 88, '0'), case when naira then 'fiat' else 'chain' end::tip_kind, state::tip_status, at,
      case when not naira then 'recipient' end, 'sender', 1, 'SOL', 'Thank you for the show, number ' || n,
      case when not naira then '\\x00'::bytea end,
      ${owner('n % 3 = 0', String(creator), other)}, case when not naira then ${first} + (n * 104729) % ${others} end,
      980000, 1000000, case when naira then 2 else 6 end, case when naira then null else token end, n, at, not naira,
      case when state = 'confirmed' then at + interval '1 s' end, case when state = 'confirmed' then at + interval '20 s' end, null
    from (
      select n, at, place = 0 as naira,
        case when place <> 0 or of_naira % 7 > 0 then 'confirmed' when of_naira = 0 then 'pending'
             when of_naira = 7 then 'failed' else 'cancelled' end as state,
        case when place > 4 then ${mint('SOL')} when place > 1 then ${mint('USDC')} when hour % 5 = 0 then ${mint('JitoSOL')}
             when hour % 5 = 1 then ${mint('BONK')} else ${mint('USDT')} end as token
      from (
        select n, at, (n / 3) % 10 as place, (n / 30) % 20 as of_naira, floor(extract(epoch from at) / 3600)::bigint as hour
        from generate_series(${from}::bigint, ${to - 1}) n,
          lateral (select now() - (${rows} - n) * ${stepMs}::float8 * interval '1 ms' as at) times) numbered) described`
}

async function insertLedger(client: pg.Client, userId: string, transfers: number): Promise<void> {
  await client.query(
    `insert into ledger_accounts (user_id, kind, currency, balance)
     select $1, kind, 'USDC', 0 from unnest(array['available', 'pending', 'held']) kind on conflict do nothing`,
    [userId],
  )
  await client.query(`
    insert into ledger_transfers (id, idem, kind, ref, created_at) overriding system value
    select n, 'tip:' || lpad(n::text, 12, '0'), 'credit', 'tip:' || n,
      now() - (${transfers} - n) * ${(historyDays * 24 * 3600) / transfers}::float8 * interval '1 s' from generate_series(1, ${transfers}) n`)
  await client.query(
    `insert into ledger_entries (transfer_id, account_id, amount, balance_after, id)
     select n, a.account, a.amount, a.after, 2 * n + a.number
     from generate_series(1, ${transfers}) n,
       (select id from ledger_accounts where user_id = $1 and kind = 'available' and currency = 'USDC') own,
       lateral (values (0, ${owner('n % 3 = 0', 'own.id', '1000000 + n % 300000')}, 1000000, n), (1, 1, -1000000, null)) a(number, account, amount, after)`,
    [userId],
  )
}

/** The accounts of the creator's are opened when they are listed. */
async function insertWithdrawals(
  client: pg.Client,
  { userId, dataKeys }: Pick<BusyCreator, 'userId' | 'dataKeys'>,
  withdrawals: number,
): Promise<void> {
  const references = Array.from(
    { length: withdrawals },
    (_, nth) => `FIATPAY-${(nth + 1).toString(16).toUpperCase().padStart(32, '0')}`,
  )
  const account = { accountNumber: '0123456789', accountName: 'Ada Obi' }
  const unread = Buffer.of(1)
  const sealed = references.map((reference, nth) =>
    nth % 3 === 0 ? sealAccount({ dataKeys }, reference, account) : unread,
  )
  await client.query(
    `insert into withdrawals (user_id, reference, status, send_state, currency, rate_id, debit_micro, gross_kobo, fee_kobo, net_kobo,
      bank_code, sealed_account, account_last_four, account_hash, hold_transfer, resolution_transfer, created_at, sends, sent_at, due_at)
    select ${owner('n % 3 = 1', `'${userId}'`, 'gen_random_uuid()')}, reference,
      case when n % 5 = 0 then 'failed' else 'completed' end, 'sent', 'USDC', 1, 1000000, 160000, 5000, 155000,
      '058', sealed, '6789', sha256('0123456789'), n, n, now() - n * interval '1 minute', 1, now(), null
    from unnest($1::text[], $2::bytea[]) with ordinality as rows(reference, sealed, n)`,
    [references, sealed],
  )
}
