import type { Knex } from 'knex'
import { sqlList } from '../../kernel/state-machine.js'
import { namedOrigin } from '../../kernel/trace-context.js'
import { uncovered } from '../../ledger/receivables/read-receivables.js'
import { addressHash } from '../../mail/queue-email.js'
import { notFrozen } from '../../outgoing/guards.js'
import { sendableStates } from '../../outgoing/lifecycle.js'
import { learnedSql } from '../../outgoing/steps.js'
import type { Config } from '../../platform/config/config.js'
import { query, write } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { closeReviews, openReview } from '../reviews.js'
import { type LockedWithdrawal, payoutChannel } from '../withdrawal.js'
import { type DuePayout, payoutJob } from '../work-queue.js'

/** What is learned of a payee: its recipient at the provider, and the account's name at the bank with its hash. */
export const payeeColumns = ['recipient_code', 'sealed_resolved_name', 'name_hash'] as const

/** A limit of what is sent in a window of time, of one creator or of all. Named as in `withdrawals.breaker`. */
export interface PayoutLimit {
  readonly name: 'creator_day' | 'creator_hour' | 'platform_day' | 'platform_hour'
  readonly hours: 1 | 24
  readonly kobo: bigint
}

/**
 * The limits that are set. A creator's own come first: a withdrawal that waits for one of them keeps nobody else waiting. The
 * long one comes before the short one, because what waits for both waits longer for it.
 */
export function payoutLimits({ limits }: Pick<Config['payouts'], 'limits'>): PayoutLimit[] {
  const all = [
    { name: 'creator_day', hours: 24, ngn: limits.creatorDailyNgn },
    { name: 'creator_hour', hours: 1, ngn: limits.creatorHourlyNgn },
    { name: 'platform_day', hours: 24, ngn: limits.dailyNgn },
    { name: 'platform_hour', hours: 1, ngn: limits.hourlyNgn },
  ] as const
  return all.flatMap(({ ngn, ...limit }) =>
    ngn === undefined ? [] : [{ ...limit, kobo: BigInt(ngn) * 100n }],
  )
}

/** The limit that stops a withdrawal now, and when to look again. */
interface LimitWait {
  readonly limit: PayoutLimit['name']
  readonly seconds: number
}

/** Limits may be changed, and withdrawals before this one cancelled: so it looks again after this. */
const longestPauseSeconds = 300
/** Another one goes first, and may be on its way now. */
const shortPauseSeconds = 1

/**
 * The first limit that stops a withdrawal; undefined when it may be sent. Call it under the lock of the switch `payouts`, which
 * lasts until the sending is committed: so the sums are complete, and two workers do not both find room for the last naira.
 *
 * A withdrawal fits when what was sent in the window and its own net do not exceed the limit. Of those that fit the oldest goes
 * first. A smaller one may pass an older one that does not fit, until the older one has waited for a whole window: then nothing
 * passes it. One that is larger than the limit by itself never fits. It waits for an operator and keeps nobody waiting. Neither
 * does one that has waited for three windows: something else is wrong with it.
 */
async function findLimitWait(
  { trx }: Pick<UnitOfWork, 'trx'>,
  payout: Pick<DuePayout, 'id' | 'userId' | 'netKobo'>,
  limits: readonly PayoutLimit[],
): Promise<LimitWait | undefined> {
  for (const limit of limits) {
    const { fitsInSeconds, olderInSeconds } = await readRoom({ trx }, payout, limit)
    const wait = payout.netKobo > limit.kobo ? longestPauseSeconds : (fitsInSeconds ?? olderInSeconds)
    if (wait !== null) {
      const seconds = Math.min(Math.max(wait, shortPauseSeconds), longestPauseSeconds)
      return { limit: limit.name, seconds }
    }
  }
  return undefined
}

interface Room {
  /** Null: it fits now. */
  readonly fitsInSeconds: number | null
  /** Null: no older one goes first. Else until that one is looked at again. Always null for a creator's own limit. */
  readonly olderInSeconds: number | null
}

async function readRoom(
  { trx }: Pick<UnitOfWork, 'trx'>,
  { id, userId, netKobo }: Pick<DuePayout, 'id' | 'userId' | 'netKobo'>,
  { name, hours, kobo }: PayoutLimit,
): Promise<Room> {
  const ofCreator = name.startsWith('creator')
  const [room] = await query<Room>(trx, {
    name: ofCreator ? 'payouts.creator-room' : 'payouts.platform-room',
    // `since`: what was sent from a request on, it included. The newest whose sum leaves no room must leave the window first.
    text: /* sql */ `
      with sent as materialized (
        select sent_at, sum(net_kobo) over (order by sent_at desc, id) as since from withdrawals
        where sent_at > statement_timestamp() - $2::int * interval '1 hour' and sends > 0 and status <> 'failed' and id <> $1
          and ${ofCreator ? 'user_id = $5' : '$5::uuid is not null'})
      select
        extract(epoch from (select max(sent_at) from sent where since > $3::bigint - $4::bigint)
          + $2::int * interval '1 hour' - clock_timestamp())::float8 as "fitsInSeconds",
        ${ofCreator ? 'null::float8' : olderOne} as "olderInSeconds"`,
    values: [id, hours, kobo, netKobo, userId, ...(ofCreator ? [] : [name])],
  })
  if (room === undefined) throw new Error('the room of a limit was not read')
  return room
}

/** Older withdrawals that wait for the same limit and go first. */
const olderOne = /* sql */ `(
  select extract(epoch from min(o.due_at) - clock_timestamp())::float8 from withdrawals o
  where o.breaker = $6 and o.status = 'pending' and o.send_state in (${sqlList(sendableStates)}) and ${notFrozen}
    and o.breaker_released_at is null and o.net_kobo <= $3
    and (o.created_at, o.id) < (select created_at, id from withdrawals where id = $1)
    and o.breaker_since > clock_timestamp() - 3 * $2::int * interval '1 hour'
    and (o.breaker_since <= clock_timestamp() - $2::int * interval '1 hour'
      or o.net_kobo <= $3 - coalesce((select max(since) from sent), 0)))`

/**
 * Makes a withdrawal wait for the first limit that stops it, and ends the waiting of its request. Its send state stays: nothing
 * more is known about the sending than before. Returns the alarm for after the commit; undefined: no limit stops it.
 */
export async function waitForLimits(
  { metrics, log }: Pick<Services, 'metrics' | 'log'>,
  uow: Pick<UnitOfWork, 'trx' | 'publish'>,
  payout: DuePayout,
  limits: readonly PayoutLimit[],
  learned: readonly unknown[],
): Promise<(() => void) | undefined> {
  const { id, reference, attempts, waited, released } = payout
  const wait = released ? undefined : await findLimitWait(uow, payout, limits)
  if (wait === undefined && !waited) return undefined
  await write(uow.trx, {
    name: 'payouts.wait',
    text: /* sql */ `
      update withdrawals set breaker = $3, breaker_since = case when $3::text is not null then coalesce(breaker_since, clock_timestamp()) end,
        due_at = coalesce(clock_timestamp() + $4::float8 * interval '1 second', due_at)${learnedSql(payeeColumns, 5)}
      where id = $1 and attempts = $2 and status = 'pending' and send_state in (${sqlList(sendableStates)})`,
    values: [id, attempts, wait?.limit ?? null, wait?.seconds ?? null, ...learned],
  })
  if (wait === undefined) return undefined
  uow.publish(payoutChannel(reference))
  return () => {
    if (waited) return
    metrics.alerts.inc({ kind: 'payout_breaker' })
    log.warn(
      { reference, ...namedOrigin(payout), limit: wait.limit },
      'a withdrawal waits for a payout limit. Run: npm run ops -- payouts list --state breaker',
    )
  }
}

/** An operator has a withdrawal sent beyond its limit, or, in spite of a debt review, looked at again now. The pause still holds. */
export async function releaseFromLimits(
  { trx, wake }: UnitOfWork,
  withdrawal: LockedWithdrawal,
  inReview: boolean,
): Promise<void> {
  await write(trx, {
    name: 'payouts.release-from-limits',
    text: /* sql */ `
      update withdrawals set due_at = clock_timestamp(),
        breaker_released_at = case when breaker is null or $2 then breaker_released_at else clock_timestamp() end
      where id = $1`,
    values: [withdrawal.id, inReview],
  })
  wake('payouts', payoutJob(withdrawal))
}

/** The debt may be paid or written off, and an operator may close the review: so it looks again after this. */
const pauseSeconds = 300

/**
 * Holds a withdrawal for a review while another account owes, or may come to owe, whose owner seems to be the same: money of it was
 * sent to the same bank account, or its owner had proven the e-mail that this one has or had. It debits nobody: anybody can pay into
 * somebody else's bank account. A person decides once: debtors of a review that was closed or released hold this creator no more.
 */
export async function holdForDebt(
  { db, transact, config, log }: Pick<Services, 'db' | 'transact' | 'config' | 'log'>,
  payout: DuePayout,
): Promise<boolean> {
  const { id, userId, reference, attempts, inReview, othersOwe } = payout
  const debtors = othersOwe ? await findDebtors(db, config, { id, userId }) : []
  if (debtors.length === 0) {
    if (inReview) await transact((uow) => closeReviews(uow, id, ['debt'], 'nothing is owed any more'))
    return false
  }
  await transact(async (uow) => {
    const ours = await query(uow.trx, {
      name: 'debts.wait',
      text: /* sql */ `
        update withdrawals set due_at = clock_timestamp() + $3::int * interval '1 second'
        where id = $1 and attempts = $2 and due_at is not null returning 1`,
      values: [id, attempts, pauseSeconds],
    })
    if (ours.length === 0) return
    await openReview(uow, { withdrawalId: id, kind: 'debt', details: { debtors: debtors.join(' ') } })
    uow.publish(payoutChannel(reference))
  })
  log.warn(
    { reference, ...namedOrigin(payout) },
    'a withdrawal waits: another account of its creator seems to owe',
  )
  return true
}

/** The accounts that owe and seem to be of the same owner, without those that a person has decided about. */
async function findDebtors(
  db: Knex,
  { dataKeys }: Pick<Config, 'dataKeys'>,
  { id, userId }: Pick<DuePayout, 'id' | 'userId'>,
): Promise<string[]> {
  const [owner] = await query<{ email: string }>(db, {
    name: 'debts.owner',
    text: 'select email from users where id = $1',
    values: [userId],
  })
  if (owner === undefined) throw new Error(`There is no user ${userId}`)
  const rows = await query<{ id: string }>(db, {
    name: 'debts.debtors',
    text: /* sql */ `
      with same as (
        select o.user_id as id from withdrawals w join withdrawals o on o.account_hash = w.account_hash
        where w.id = $1 and o.user_id <> $2 and o.submitted_at is not null
        union
        select o.id from users u join users o on o.proven_emails && (u.proven_emails || $3::bytea) where u.id = $2 and o.id <> $2)
      select s.id from same s
      where exists (select from receivables where creator_id = s.id and ${uncovered})
        and not exists (
          select from review_items r join withdrawals d on d.id = r.withdrawal_id
          where d.user_id = $2 and r.kind = 'debt' and r.resolution ~ '^(close|release): '
            and position(s.id::text in r.details->>'debtors') > 0)
      order by s.id`,
    values: [id, userId, addressHash(dataKeys, owner.email)],
  })
  return rows.map((row) => row.id)
}
