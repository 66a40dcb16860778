import type { Knex } from 'knex'

/** Every row of every table as text, by table: what somebody reads who has the database and no key. */
export async function dumpTables(db: Knex): Promise<Map<string, string>> {
  const tables: string[] = await db('pg_tables')
    .where({ schemaname: 'public' })
    .orderBy('tablename')
    .pluck('tablename')
  const dump = new Map<string, string>()
  for (const table of tables) {
    const { rows } = await db.raw('select t::text as line from ?? t', [table])
    dump.set(table, rows.map(({ line }: { line: string }) => line).join('\n'))
  }
  return dump
}

/** The tables in which one of these texts stands, in any case. */
export function tablesWith(dump: ReadonlyMap<string, string>, texts: readonly string[]): string[] {
  return [...dump].flatMap(([table, text]) =>
    texts.some((one) => text.toLowerCase().includes(one.toLowerCase())) ? [table] : [],
  )
}
