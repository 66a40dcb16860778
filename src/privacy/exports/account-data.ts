import type { Knex } from 'knex'
import { displayText } from '../../kernel/money.js'
import { tokensSql } from '../../kernel/tokens.js'
import { presentTransaction } from '../../ledger/present.js'
import { isWrittenOff } from '../../ledger/receivables/read-receivables.js'
import { readStatement } from '../../ledger/statement.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { listCreatorTips } from '../../tips/read/creator-tips.js'
import { readBankAccounts } from '../../withdrawals/bank-account.js'
import { listPayees } from '../../withdrawals/confirmation/payees.js'
import { listWithdrawals } from '../../withdrawals/list-withdrawals.js'

/** The newest rows of each list. Whoever has more finds them in the lists of the API; the file says where. */
const mostRows = 20_000
const pageRows = 100

/** The lists that may be longer than the file. */
const lists = {
  tips: 'GET /creators/tips',
  transactions: 'GET /creators/transactions',
  withdrawals: 'GET /payouts/history',
} as const

type Needs = Pick<Services, 'db' | 'reads' | 'config'>

/**
 * What is stored about an account and its owner, for its owner: no secret, nothing about operators, and of supporters what the
 * creator is shown anyway. Amounts are as in the API.
 */
export async function gatherAccountData(services: Needs, userId: string): Promise<Record<string, unknown>> {
  const { db } = services
  const small: [string, unknown][] = []
  for (const [name, sql] of Object.entries(sections))
    small.push([name, await readSection(db, name, sql, userId)])
  const tips = await readAll(async (cursor) => {
    const { tips: rows, next } = await listCreatorTips(services, userId, {
      cursor,
      limit: pageRows,
      format: 'json',
    })
    return { rows, next }
  })
  const transactions = await readAll<unknown, bigint>(async (before) => {
    const { lines, next } = await readStatement(services.reads, userId, 'USDC', {
      before,
      limit: pageRows,
    })
    return { rows: lines.map(presentTransaction), next }
  })
  const withdrawals = await readAll(async (cursor) => {
    const input = { cursor, limit: pageRows, reference: undefined, status: undefined }
    const { payouts: rows, next } = await listWithdrawals(services, userId, input)
    return { rows, next }
  })
  const long = { tips, transactions, withdrawals }
  return {
    ...Object.fromEntries(small),
    balances: await readBalances(db, userId),
    bankAccounts: await readBankAccounts(services, userId, mostRows),
    payees: await listPayees(services, userId),
    ...Object.fromEntries(Object.entries(long).map(([name, { rows }]) => [name, rows])),
    longer: Object.entries(long).flatMap(([name, { complete }]) =>
      complete ? [] : [{ list: name, shown: mostRows, all: lists[name as keyof typeof lists] }],
    ),
  }
}

interface Page<Row, Cursor> {
  readonly rows: readonly Row[]
  readonly next: Cursor | undefined
}

async function readAll<Row, Cursor = string>(
  readPage: (cursor: Cursor | undefined) => Promise<Page<Row, Cursor>>,
): Promise<{ readonly rows: Row[]; readonly complete: boolean }> {
  const all: Row[] = []
  for (let cursor: Cursor | undefined; ; ) {
    const { rows, next } = await readPage(cursor)
    all.push(...rows)
    if (next === undefined) return { rows: all, complete: true }
    if (all.length >= mostRows) return { rows: all, complete: false }
    cursor = next
  }
}

/** A column of base units as decimal text, in SQL. */
const decimal = (column: string, decimals: number): string =>
  `trim_scale(${column}::numeric / 1${'0'.repeat(decimals)})::text`

/** One row for each object of the file. `$1` is the user, `$2` the largest number of rows. */
const sections = {
  account: /* sql */ `
    select u.id, u.email, u.name, u.created_at as "createdAt", u.email_verified_at as "emailVerifiedAt",
      u.identity_verified_at as "identityVerifiedAt", u.password_hash is not null as "hasPassword",
      u.sol_domain as "solDomain", u.sol_domain_owner as "solDomainOwner", u.twitter_handle as "twitterHandle",
      u.discord_handle as "discordHandle", u.settings, u.tip_mails as "tipMails", u.registered_network as "registeredNetwork",
      u.frozen_at as "frozenAt", w.public_key as "walletPublicKey", p.wallet as "payoutWallet",
      p.proven_at as "payoutWalletProvenAt", coalesce(p.takes_tips, false) as "tipsGoToPayoutWallet"
    from users u left join wallets w on w.user_id = u.id left join payout_wallets p on p.user_id = u.id where u.id = $1 limit $2`,
  emailChanges: /* sql */ `
    select old_email as "oldEmail", new_email as "newEmail", changed_at as "changedAt", undone_at as "undoneAt"
    from email_changes where user_id = $1 order by changed_at desc limit $2`,
  sessions: /* sql */ `
    select id, created_at as "createdAt", least(idle_until, absolute_until) as "endsAt", network, user_agent as "userAgent"
    from sessions where user_id = $1 order by created_at desc limit $2`,
  devices: /* sql */ `
    select network, user_agent as "userAgent", first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt"
    from devices where user_id = $1 order by last_seen_at desc limit $2`,
  secondFactors: /* sql */ `
    select 'authenticator app' as kind, null as label, confirmed_at as "addedAt", null as "lastUsedAt"
    from totp_factors where user_id = $1 and confirmed_at is not null
    union all
    select 'passkey', label, created_at, last_used_at from passkeys where user_id = $1 order by 3 desc limit $2`,
  apiKeys: /* sql */ `
    select prefix, label, created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
    from api_keys where user_id = $1 order by created_at desc limit $2`,
  webhooks: /* sql */ `
    select id, url, description, types, created_at as "createdAt", disabled as "disabledBy", disabled_at as "disabledAt",
      failing_since as "failingSince"
    from webhook_endpoints where user_id = $1 order by created_at desc limit $2`,
  overlay: 'select settings, changed_at as "changedAt" from overlays where user_id = $1 limit $2',
  tipDecisions: /* sql */ `
    select tip_id as tip, state, decided_at as "decidedAt" from tip_decisions where user_id = $1 order by decided_at desc limit $2`,
  sites: 'select domain from creator_domains where user_id = $1 order by position limit $2',
  page: /* sql */ `
    select (select handle from page_handles where user_id = $1 and until is null) as handle,
      array(select handle from page_handles where user_id = $1 and until > now()) as "earlierHandles", words, links,
      goal_title as "goalTitle", ${decimal('goal_cents', 2)} as "goalUSD", wall, robots, currency, language, thanks,
      encode(picture, 'base64') as "pictureWebpBase64"
    from (select 1) one left join creator_pages on user_id = $1 limit $2`,
  // What is held or owed because a payment was disputed or went back.
  cases: /* sql */ `
    select id, ref as tip,
      case when ${isWrittenOff('receivables.id')} then 'written off'
        when closed_at is not null then 'ended' when owed then 'owed' else 'held' end as state,
      ${decimal('amount_micro', 6)} as "amountUSDC", ${decimal('covered_micro', 6)} as "coveredUSDC", created_at as "createdAt"
    from receivables where creator_id = $1 order by created_at desc limit $2`,
  // Nothing of the bank's reasons or of the payer.
  disputes: /* sql */ `
    select d.id, d.intent_id as tip, case when d.state = 'answered' then 'open' else d.state end as state,
      ${decimal('d.kobo', 2)} as "amountNGN", d.opened_at as "openedAt", d.ended_at as "endedAt"
    from disputes d join fiat_intents f on f.id = d.intent_id where f.user_id = $1 order by d.opened_at desc limit $2`,
  refunds: /* sql */ `
    select request_id as id, intent_id as tip, case status when 'completed' then 'paid' when 'failed' then 'failed' else 'pending' end as status,
      ${decimal('amount_cents', 2)} as "amountUSD", ${decimal('debit_micro', 6)} as "amountUSDC", ${decimal('kobo', 2)} as "amountNGN",
      failure_reason as "failureReason", created_at as "createdAt", ended_at as "endedAt"
    from refunds where user_id = $1 order by created_at desc limit $2`,
  takeOuts: /* sql */ `
    select t.id, t.state as status, k.symbol as "tokenSymbol",
      trim_scale(t.amount / power(10::numeric, k.decimals))::text as amount, t.payout_wallet as wallet, t.signature,
      t.created_at as "createdAt", t.ended_at as "endedAt"
    from wallet_transfers t join ${tokensSql} on k.mint = t.mint
    where t.user_id = $1 order by t.created_at desc limit $2`,
  emails: /* sql */ `
    select e.kind, e.subject, e.created_at as "createdAt", e.sent_at as "sentAt"
    from emails e join users u on u.email = e.recipient where u.id = $1 order by e.created_at desc limit $2`,
  actionsOfOperators: /* sql */ `
    select at, action from audit_log where subject = 'user:' || $1::uuid
    union all
    select l.at, l.action || ' ' || w.reference
    from withdrawals w join audit_log l on l.subject = 'payout:' || w.reference
    where w.user_id = $1::uuid order by 1 desc limit $2`,
} as const

function readSection(db: Knex, name: string, text: string, userId: string): Promise<unknown[]> {
  return query(db, { name: `exports.${name}`, text, values: [userId, mostRows] })
}

async function readBalances(db: Knex, userId: string) {
  const rows = await query<{ kind: string; currency: 'USDC' | 'NGN'; balance: bigint }>(db, {
    name: 'exports.balances',
    text: 'select kind, currency, balance from ledger_accounts where user_id = $1 order by id',
    values: [userId],
  })
  return rows.map(({ balance, ...rest }) => ({
    ...rest,
    balance: displayText(balance, rest.currency === 'USDC' ? 6 : 2),
  }))
}
