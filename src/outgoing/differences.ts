import type { Knex } from 'knex'
import { ProviderError } from '../kernel/provider-error.js'
import { query } from '../platform/database/database.js'

/** How one of the provider's lists differs from our rows. Null: that side does not have it. */
export interface Difference<Kind extends string = string> {
  readonly kind: Kind
  readonly ours: string | null
  readonly theirs: string | null
}

/** Where the differences of one comparison are stored, and the column that says of what each is. */
export type DifferenceTable =
  | { readonly table: 'reconciliation_differences'; readonly subject: 'provider_reference' }
  | { readonly table: 'collection_differences'; readonly subject: 'subject' }

/**
 * Stores the differences and deletes those that no longer exist among the compared subjects. Returns the subjects of the new ones.
 */
export async function storeDifferences<Found extends Difference>(
  db: Knex,
  { table, subject }: DifferenceTable,
  subjectOf: (difference: Found) => string,
  differences: readonly Found[],
  compared: readonly string[],
): Promise<string[]> {
  const rows = await query<{ subject: string; isNew: boolean }>(db, {
    name: `compare.store-${table}`,
    text: /* sql */ `
      with gone as (
        delete from ${table} where ${subject} = any($5::text[])
          and (${subject}, kind) not in (select * from unnest($1::text[], $2::text[])))
      insert into ${table} as d (${subject}, kind, ours, theirs)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
      on conflict (${subject}, kind) do update
        set ours = excluded.ours, theirs = excluded.theirs, last_seen_at = clock_timestamp()
      returning d.${subject} as subject, d.xmax = 0 as "isNew"`,
    values: [
      differences.map(subjectOf),
      differences.map(({ kind }) => kind),
      differences.map(({ ours }) => ours),
      differences.map(({ theirs }) => theirs),
      compared,
    ],
  })
  return rows.flatMap(({ subject, isNew }) => (isNew ? [subject] : []))
}

/** The rows of a list up to where it ends with an error of the provider's, and that error. */
export async function readReadable<Row>(
  pages: AsyncIterable<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly error?: ProviderError }> {
  const rows: Row[] = []
  try {
    for await (const page of pages) rows.push(...page)
    return { rows }
  } catch (error) {
    if (error instanceof ProviderError) return { rows, error }
    throw error
  }
}

/** All rows of a list that the provider gives page by page. */
export async function readAll<Row>(pages: AsyncIterable<readonly Row[]>): Promise<readonly Row[]> {
  const { rows, error } = await readReadable(pages)
  if (error !== undefined) throw error
  return rows
}
