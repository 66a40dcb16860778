import { query, write } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import { endFiatTips, unlistFiatTips } from '../../tips/fiat-tip.js'

/** The settlement worker asks the provider right after expiry. An intent that is still open after this time was not settled. */
const graceSeconds = 120
/** Rows of one run. */
const maxRows = 1000

/** Cancels and unlists fiat intents whose time is over. Any number of clocks may run it at the same time. */
export async function expireFiatIntents(services: Pick<Services, 'transact'>): Promise<void> {
  await cancelLate(services)
  await unlistOld(services)
}

/**
 * Cancels open intents that expired before the grace time, whether or not the provider answers. Late money still completes
 * them.
 */
function cancelLate({ transact }: Pick<Services, 'transact'>): Promise<void> {
  return transact(async (uow) => {
    const { trx } = uow
    const late = await query<{ id: string }>(trx, {
      name: 'fiat.late',
      text: /* sql */ `
        select id from fiat_intents
        where client_network is not null and expires_at < now() - $1 * interval '1 second' limit $2`,
      values: [graceSeconds, maxRows],
    })
    const ids = late.map(({ id }) => id)
    await write(trx, {
      name: 'fiat.expire',
      text: /* sql */ `
        update fiat_intents set client_network = null, unlist_at = expires_at + interval '24 hours' where id = any($1::text[])`,
      values: [await endFiatTips(uow, ids, 'cancelled')],
    })
  })
}

/** Removes cancelled intents without a payment from the lists, a day after they expired. */
function unlistOld({ transact }: Pick<Services, 'transact'>): Promise<void> {
  return transact(async ({ trx }) => {
    const old = await query<{ id: string }>(trx, {
      name: 'fiat.unlist',
      text: /* sql */ `
        update fiat_intents set unlist_at = null
        where id in (select id from fiat_intents where unlist_at < now() limit $1 for update skip locked)
        returning id`,
      values: [maxRows],
    })
    await unlistFiatTips(
      trx,
      old.map(({ id }) => id),
    )
  })
}
