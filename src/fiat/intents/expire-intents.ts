import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { advanceTips } from '../../tips/lifecycle.js'

/** The settlement worker asks the provider right after expiry. An intent that is still open after this time was not settled. */
const graceSeconds = 120
/** Rows of one run. */
const maxRows = 1000
/** Rates that no intent and no withdrawal refers to are kept this long. */
const rateDays = 30

const cancellation = advanceTips('cancelled')

/**
 * Cancels open intents that expired before the grace time, whether or not the provider answers. Late money still completes
 * them.
 */
const cancelSql = /* sql */ `
  with late as (
    select id from fiat_intents where client_network is not null and expires_at < now() - $1 * interval '1 second' limit $2
  ), pending as materialized (
    select t.id from tips t where t.id in (select id from late) and t.${cancellation.from} order by t.id for no key update
  ), cancelled as (
    update tips set ${cancellation.set} where id in (select id from pending) returning id
  )
  update fiat_intents set client_network = null, unlist_at = expires_at + interval '24 hours'
  where id in (select id from cancelled)`

/** Removes cancelled intents without a payment from the lists, a day after they expired. */
const unlistSql = /* sql */ `
  with old as (
    update fiat_intents set unlist_at = null
    where id in (select id from fiat_intents where unlist_at < now() limit $1 for update skip locked)
    returning id
  )
  update tips set listed = false where id in (select id from old) and status = 'cancelled'`

const deleteRatesSql = /* sql */ `
  delete from rates where id in (
    select id from rates r where created_at < now() - $1 * interval '1 day'
      and not exists (select from fiat_intents where rate_id = r.id or settle_rate_id = r.id)
      and not exists (select from withdrawals where rate_id = r.id)
    order by id limit $2 for update skip locked)`

/** Cancels and unlists fiat intents whose time is over. Any number of clocks may run it at the same time. */
export async function expireFiatIntents({ db }: Pick<Services, 'db'>): Promise<void> {
  await query(db, { name: 'fiat.expire', text: cancelSql, values: [graceSeconds, maxRows] })
  await query(db, { name: 'fiat.unlist', text: unlistSql, values: [maxRows] })
}

/** Deletes old exchange rates that no intent and no withdrawal refers to. */
export async function deleteOldRates({ db }: Pick<Services, 'db'>): Promise<void> {
  await query(db, { name: 'rates.delete-old', text: deleteRatesSql, values: [rateDays, maxRows] })
}
