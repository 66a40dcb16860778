import type { Knex } from 'knex'
import { usdcText } from '../../kernel/money.js'
import { tokensSql } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { amountSql, auditLines, readLines, rowsPerPage, type WholeStory } from './story.js'

interface CreatorRow {
  readonly facts: readonly string[]
  readonly isFrozen: boolean
  readonly isVerified: boolean
}

/** A creator: how the account and its money stand, and a page of tips, withdrawals, refunds, disputes and take-outs. */
export async function tellCreator(db: Knex, id: string, before: Date): Promise<WholeStory | undefined> {
  const [creator] = await query<CreatorRow>(db, { name: 'trace.creator', text: creatorSql, values: [id] })
  if (creator === undefined) return undefined
  const debts = await readDebts(db, id)
  return {
    kind: 'creator',
    id,
    facts: [...creator.facts, await readMoney(db, id), ...debts],
    lines: [
      ...(await readLines(db, 'creator-life', lifeSql, [id, before])),
      ...(await auditLines(db, [`user:${id}`], before)),
    ],
    related: [],
    commands: [
      creator.isFrozen ? `unfreeze --user ${id}` : `freeze-account --user ${id} --reason <text>`,
      ...(debts.length > 0 ? ['receivables', 'disputes'] : []),
      ...(creator.isVerified ? [] : [`verify-identity --user ${id}`]),
    ],
  }
}

const creatorSql = /* sql */ `
  select u.frozen_at is not null as "isFrozen", u.identity_verified_at is not null as "isVerified", array_remove(array[
      'The account of ' || coalesce(u.email, 'somebody who closed it')
        || case when u.email_verified_at is null then ', who has not proven the e-mail' else '' end || '.',
      coalesce('Its custody wallet is ' || w.public_key || '.', 'It has no custody wallet yet' || coalesce(': ' || w.last_error, '') || '.'),
      'Its payout wallet is ' || o.wallet || case when o.takes_tips then ', and tips go there' else '' end || '.',
      case when u.frozen_at is not null then 'It is frozen: ' || u.frozen_reason || '.' end], null) as facts
  from users u left join wallets w on w.user_id = u.id left join payout_wallets o on o.user_id = u.id
  where u.id = $1`

async function readMoney(db: Knex, id: string): Promise<string> {
  const rows = await query<{ kind: string; balance: bigint }>(db, {
    name: 'trace.balances',
    text: /* sql */ `
      select kind, balance from ledger_accounts where user_id = $1 and currency = 'USDC' order by kind`,
    values: [id],
  })
  if (rows.length === 0) return 'It has had no money yet.'
  return `Its money: ${rows.map(({ kind, balance }) => `${kind} ${usdcText(balance)}`).join(', ')}.`
}

async function readDebts(db: Knex, id: string): Promise<string[]> {
  const rows = await query<{ id: string; missing: bigint; owed: boolean }>(db, {
    name: 'trace.debts',
    text: /* sql */ `
      select id, amount_micro - covered_micro as missing, owed from receivables
       where creator_id = $1 and closed_at is null and (not owed or covered_micro < amount_micro) order by created_at`,
    values: [id],
  })
  return rows.map(({ id: of, missing, owed }) =>
    owed
      ? `It owes ${usdcText(missing)} for ${of}.`
      : `An open case holds its money: ${of}${missing > 0n ? `, ${usdcText(missing)} short` : ''}.`,
  )
}

/** What happened to the account, and the newest of its money before a time. Each part walks an index of its own. */
const lifeSql = /* sql */ `
  select l.* from users u left join payout_wallets o on o.user_id = u.id cross join lateral (values
      (u.created_at, 'the account was made'),
      (u.email_verified_at, 'the e-mail was proven'),
      (u.identity_verified_at, 'the identity was verified'),
      (u.factors_changed_at, 'a second factor was added or removed'),
      (o.proven_at, 'the payout wallet was proven'),
      (u.frozen_at, 'the account was frozen: ' || u.frozen_reason),
      (u.closed_at, 'the account was closed')) l
    where u.id = $1
  union all
  (select created_at, 'withdrawal ' || reference || ': ' || status
    from withdrawals where user_id = $1 and created_at < $2 order by created_at desc, id desc limit ${rowsPerPage})
  union all
  (select recorded_at, 'tip ' || id || ': ' || status from tips
    where recipient_party = (select id from parties where user_id = $1) and listed and (status = 'confirmed' or kind = 'fiat')
      and recorded_at < $2
    order by recorded_at desc, id desc limit ${rowsPerPage})
  union all
  (select created_at, 'refund ' || id || ' asked for, now ' || status from refunds
    where user_id = $1 and created_at < $2 order by created_at desc limit ${rowsPerPage})
  union all
  (select created_at, id || ' began to hold the money of the tip ' || ref || ', now '
      || case when closed_at is not null then 'ended' when owed then 'owed' else 'open' end
    from receivables where creator_id = $1 and created_at < $2 order by created_at desc limit ${rowsPerPage})
  union all
  (select t.created_at, 'take-out ' || t.id || ' of ' || ${amountSql('t.amount', 'coalesce(k.decimals, 0)')} || ' '
      || coalesce(k.symbol, t.mint) || ' to ' || t.payout_wallet || ': ' || t.state || coalesce(', transaction ' || t.signature, '')
    from wallet_transfers t left join ${tokensSql} on k.mint = t.mint
    where t.user_id = $1 and t.created_at < $2 order by t.created_at desc, t.id desc limit ${rowsPerPage})`
