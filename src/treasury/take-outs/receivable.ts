import type { Knex } from 'knex'

/**
 * Whether the creator owes the platform money after a dispute or a refund. Then nothing is taken out. No receivable is recorded
 * per creator yet, so nobody owes anything.
 */
export async function owesPlatform(_db: Knex, _userId: string): Promise<boolean> {
  return false
}
