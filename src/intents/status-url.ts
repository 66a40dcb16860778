import type { Knex } from 'knex'
import { z } from 'zod'
import { statusKeySql, statusUrl } from '../kernel/status-link.js'
import type { Config } from '../platform/config/config.js'
import { query } from '../platform/database/database.js'

/** In the schema of an answer of the contract: absent unless the request has what only our own clients and integrators send. */
export const statusUrlOutput = z.string().optional().meta({
  description:
    'Only with a session token, a `reference` or `metadata`: the page that tells the payer how the payment stands. Whoever has the address sees it',
})

/** The field `statusUrl` of an answer. Not `wanted`: the caller may know only the contract, and sees nothing new. */
export async function presentStatusUrl(
  { db, config }: { readonly db: Knex; readonly config: Pick<Config, 'http'> },
  intentId: string,
  wanted: boolean,
): Promise<{ readonly statusUrl?: string }> {
  if (!wanted) return {}
  const [row] = await query<{ key: Buffer }>(db, {
    name: 'intents.status-key',
    text: `select ${statusKeySql} as key`,
    values: [],
  })
  return row === undefined ? {} : { statusUrl: statusUrl(config.http.publicUrl, row.key, intentId) }
}

/** Whether a request gives what an integrator keeps with the payment. */
export function givesOwn({
  reference,
  metadata,
}: {
  readonly reference?: unknown
  readonly metadata?: unknown
}): boolean {
  return reference !== undefined || metadata !== undefined
}
