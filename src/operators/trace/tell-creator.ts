import type { Knex } from 'knex'
import { displayText, usdcText } from '../../kernel/money.js'
import { tokenByMint } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { auditLines, inOrder, linesAt, type Story, type StoryLine, type Subject } from './story.js'

/** Of each kind of related rows. */
const newest = 20

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

/** A creator: how the account and its money stand, and the newest tips, withdrawals and take-outs. */
export async function tellCreator(db: Knex, id: string): Promise<Story | undefined> {
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
  const [money, debts, rows, takeOuts, audit] = await Promise.all([
    readMoney(db, id),
    readDebts(db, id),
    readRelated(db, id, creator.partyId),
    readTakeOuts(db, id),
    auditLines(db, [`user:${id}`]),
  ])
  return {
    kind: 'creator',
    id,
    facts: [...factsOf(creator), money, ...debts],
    lines: inOrder([
      ...linesAt({
        'the account was made': creator.createdAt,
        'the e-mail was proven': creator.emailVerifiedAt,
        'the identity was verified': creator.identityVerifiedAt,
        'a second factor was added or removed': creator.factorsChangedAt,
        'the payout wallet was proven': creator.provenAt,
        [`the account was frozen: ${creator.frozenReason}`]: creator.frozenAt,
        'the account was closed': creator.closedAt,
      }),
      ...rows.map(({ at, kind, id: of, status }) => ({ at, text: `${kind} ${of}: ${status}` })),
      ...takeOuts,
      ...audit,
    ]),
    related: rows.map(({ kind, id: of }) => ({ kind, id: of })),
    commands: [
      `${creator.frozenAt === null ? 'freeze-account' : 'unfreeze'} --user ${id}`,
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

type Related = Subject & { readonly at: Date; readonly status: string }

async function readRelated(db: Knex, id: string, partyId: bigint | null): Promise<Related[]> {
  return query<Related>(db, {
    name: 'trace.related',
    text: /* sql */ `
      select * from (
        (select 'withdrawal' as kind, reference as id, status, created_at as at from withdrawals where user_id = $1
          order by created_at desc, id desc limit ${newest})
        union all
        (select 'tip', id, status::text, recorded_at from tips where recipient_party = $2 and listed
          and (status = 'confirmed' or kind = 'fiat') order by recorded_at desc, id desc limit ${newest})) r
      order by at desc`,
    values: [id, partyId],
  })
}

async function readTakeOuts(db: Knex, id: string): Promise<StoryLine[]> {
  const rows = await query<{
    id: string
    at: Date
    state: string
    mint: string
    amount: string
    wallet: string
  }>(db, {
    name: 'trace.take-outs',
    text: /* sql */ `
      select id, created_at as at, state, mint, amount, payout_wallet as wallet from wallet_transfers where user_id = $1
       order by created_at desc, id desc limit ${newest}`,
    values: [id],
  })
  return rows.map(({ id: of, at, state, mint, amount, wallet }) => {
    const token = tokenByMint(mint)
    return {
      at,
      text: `take-out ${of} of ${displayText(BigInt(amount), token?.decimals ?? 0)} ${token?.symbol ?? mint} to ${wallet}: ${state}`,
    }
  })
}
