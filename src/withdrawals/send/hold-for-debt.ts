import type { Knex } from 'knex'
import { uncovered } from '../../ledger/receivables/read-receivables.js'
import { addressHash } from '../../mail/sealed-address.js'
import type { Config } from '../../platform/config/config.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { closeReviews, openReview } from '../reviews.js'
import { payoutChannel } from '../withdrawal.js'
import type { DuePayout } from '../work-queue.js'

/** The debt may be paid or written off, and an operator may close the review: so it looks again after this. */
const pauseSeconds = 300

/**
 * Holds a withdrawal for a review while another account owes, or may come to owe, whose owner seems to be the same: money of it was
 * sent to the same bank account, or its owner had proven the e-mail that this one has or had. It debits nobody: anybody can pay into
 * somebody else's bank account. A person decides once: debtors of a review that was closed or released hold this creator no more.
 */
export async function holdForDebt(
  { db, transact, config, log }: Pick<Services, 'db' | 'transact' | 'config' | 'log'>,
  { id, userId, reference, requestId, attempts, inReview }: DuePayout,
): Promise<boolean> {
  const debtors = await findDebtors(db, config, { id, userId })
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
  log.warn({ reference, requestId }, 'a withdrawal waits: another account of its creator seems to owe')
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
    text: `select email from users where id = $1 and exists (select from receivables where creator_id <> $1 and ${uncovered})`,
    values: [userId],
  })
  if (owner === undefined) return []
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
