import type { Knex } from 'knex'
import { displayText, usdcText } from '../../kernel/money.js'
import { tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { auditLines, linesAt, rowsPerPage, type StoryLine, type Subject, type WholeStory } from './story.js'

interface CreatorRow {
  readonly email: string | null
  readonly createdAt: Date
  readonly emailVerifiedAt: Date | null
  readonly identityVerifiedAt: Date | null
  readonly factorsChangedAt: Date | null
  readonly frozenAt: Date | null
  readonly frozenReason: string | null
  readonly closedAt: Date | null
  readonly wallet: string | null
  readonly walletError: string | null
  readonly payoutWallet: string | null
  readonly takesTips: boolean | null
  readonly provenAt: Date | null
  readonly partyId: bigint | null
}

/** A creator: how the account and its money stand, and a page of tips, withdrawals, refunds, disputes and take-outs. */
export async function tellCreator(db: Knex, id: string, before: Date): Promise<WholeStory | undefined> {
  const [creator] = await query<CreatorRow>(db, {
    name: 'trace.creator',
    text: /* sql */ `
      select u.email, u.created_at as "createdAt", u.email_verified_at as "emailVerifiedAt",
        u.identity_verified_at as "identityVerifiedAt", u.factors_changed_at as "factorsChangedAt", u.frozen_at as "frozenAt",
        u.frozen_reason as "frozenReason", u.closed_at as "closedAt", w.public_key as wallet, w.last_error as "walletError",
        o.wallet as "payoutWallet", o.takes_tips as "takesTips", o.proven_at as "provenAt", p.id as "partyId"
      from users u left join wallets w on w.user_id = u.id left join payout_wallets o on o.user_id = u.id
        left join parties p on p.user_id = u.id
      where u.id = $1`,
    values: [id],
  })
  if (creator === undefined) return undefined
  const [money, debts, events, takeOuts, audit] = await Promise.all([
    readMoney(db, id),
    readDebts(db, id),
    readEvents(db, id, creator.partyId, before),
    readTakeOuts(db, id, before),
    auditLines(db, [`user:${id}`], before),
  ])
  return {
    kind: 'creator',
    id,
    facts: [...factsOf(creator), money, ...debts],
    lines: [
      ...linesAt({
        'the account was made': creator.createdAt,
        'the e-mail was proven': creator.emailVerifiedAt,
        'the identity was verified': creator.identityVerifiedAt,
        'a second factor was added or removed': creator.factorsChangedAt,
        'the payout wallet was proven': creator.provenAt,
        [`the account was frozen: ${creator.frozenReason}`]: creator.frozenAt,
        'the account was closed': creator.closedAt,
      }),
      ...events,
      ...takeOuts,
      ...audit,
    ],
    related: [],
    commands: [
      ...(creator.frozenAt === null
        ? [`freeze-account --user ${id} --reason <text>`]
        : [`unfreeze --user ${id}`]),
      ...(debts.length > 0 ? ['receivables', 'disputes'] : []),
      ...(creator.identityVerifiedAt === null ? [`verify-identity --user ${id}`] : []),
    ],
  }
}

function factsOf(creator: CreatorRow): string[] {
  const { email, emailVerifiedAt, wallet, walletError, payoutWallet, takesTips } = creator
  return [
    `The account of ${email ?? 'somebody who closed it'}${emailVerifiedAt === null ? ', who has not proven the e-mail' : ''}.`,
    wallet === null
      ? `It has no custody wallet yet${walletError === null ? '' : `: ${walletError}`}.`
      : `Its custody wallet is ${wallet}.`,
    ...(payoutWallet === null
      ? []
      : [`Its payout wallet is ${payoutWallet}${takesTips ? ', and tips go there' : ''}.`]),
    ...(creator.frozenAt === null ? [] : [`It is frozen: ${creator.frozenReason}.`]),
  ]
}

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

type Event = Omit<Subject, 'kind'> & {
  readonly kind: 'withdrawal' | 'tip'
  readonly at: Date
  readonly what: string
}

/** What happened to the money, the newest before a time. Each part walks an index of its own. */
async function readEvents(db: Knex, id: string, partyId: bigint | null, before: Date): Promise<StoryLine[]> {
  const rows = await query<Event>(db, {
    name: 'trace.events',
    text: /* sql */ `
      (select 'withdrawal' as kind, reference as id, 'withdrawal ' || reference || ': ' || status as what, created_at as at
        from withdrawals where user_id = $1 and created_at < $3 order by created_at desc, id desc limit ${rowsPerPage})
      union all
      (select 'tip', id, 'tip ' || id || ': ' || status, recorded_at from tips
        where recipient_party = $2 and listed and (status = 'confirmed' or kind = 'fiat') and recorded_at < $3
        order by recorded_at desc, id desc limit ${rowsPerPage})
      union all
      (select 'tip', intent_id, 'refund ' || id || ' asked for, now ' || status, created_at from refunds
        where user_id = $1 and created_at < $3 order by created_at desc limit ${rowsPerPage})
      union all
      (select 'tip', ref, id || ' began to hold the money of a tip, now ' || case when closed_at is not null then 'ended'
          when owed then 'owed' else 'open' end, created_at from receivables
        where creator_id = $1 and created_at < $3 order by created_at desc limit ${rowsPerPage})`,
    values: [id, partyId, before],
  })
  return rows.map(({ kind, id: of, at, what }) => ({ at, text: what, of: { kind, id: of } }))
}

async function readTakeOuts(db: Knex, id: string, before: Date): Promise<StoryLine[]> {
  const rows = await query<{
    id: string
    at: Date
    state: string
    mint: string
    amount: string
    wallet: string
    signature: string | null
  }>(db, {
    name: 'trace.take-outs',
    text: /* sql */ `
      select id, created_at as at, state, mint, amount, payout_wallet as wallet, signature from wallet_transfers
       where user_id = $1 and created_at < $2 order by created_at desc, id desc limit ${rowsPerPage}`,
    values: [id, before],
  })
  return rows.map(({ id: of, at, state, mint, amount, wallet, signature }) => {
    const token = tokenByMint(mint)
    return {
      at,
      text: `take-out ${of} of ${displayText(BigInt(amount), token?.decimals ?? 0)} ${token?.symbol ?? mint} to ${wallet}: ${state}${signature === null ? '' : `, transaction ${signature}`}`,
    }
  })
}
