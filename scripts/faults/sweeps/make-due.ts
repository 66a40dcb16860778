import type { Knex } from 'knex'

/**
 * Makes rows due that are due later, instead of waiting for the next look of a worker or for the lease of a killed one. Skips what a
 * worker has locked: it has just looked.
 */
export async function makeDue(
  db: Knex,
  table: string,
  condition: string,
  values: readonly Knex.RawBinding[] = [],
): Promise<void> {
  await db.raw(
    `update ${table} set due_at = clock_timestamp() where id = any(array(
      select id from ${table} where due_at > clock_timestamp() + interval '1 second' and ${condition}
      order by id for update skip locked))`,
    values,
  )
}
