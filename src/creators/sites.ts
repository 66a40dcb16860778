import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { lockCreator } from './lock-creator.js'

/** The sites a creator's embeds may live on, as `normaliseSite` writes them, in the creator's own order. */
export async function readDomains(db: Knex, userId: string): Promise<string[]> {
  const rows = await query<{ domain: string }>(db, {
    name: 'creator_domains.read',
    text: 'select domain from creator_domains where user_id = $1 order by position',
    values: [userId],
  })
  return rows.map(({ domain }) => domain)
}

/** Puts this list in the place of the old one. `domains` are normalised and differ from each other. */
export async function replaceDomains(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  domains: readonly string[],
): Promise<void> {
  await transact(async ({ trx }) => {
    await lockCreator(trx, userId)
    await trx('creator_domains').where({ user_id: userId }).delete()
    await query(trx, {
      name: 'creator_domains.insert',
      text: `insert into creator_domains (user_id, domain, position)
             select $1, domain, position from unnest($2::text[]) with ordinality as d(domain, position)`,
      values: [userId, domains],
    })
  })
}
