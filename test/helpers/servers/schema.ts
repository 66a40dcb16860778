import type { Knex } from 'knex'

const schemaSql = /* sql */ `
  with own as (
    select oid as rel, relname, relkind::text, relpersistence::text, reloptions::text from pg_class
     where relnamespace = 'public'::regnamespace and relname !~ '^knex_migrations')
  select format('type %s: %s', typname, string_agg(enumlabel, ', ' order by enumsortorder)) as line
    from pg_type t join pg_enum on enumtypid = t.oid group by typname
  union all
  select format('%s %s%s%s', case relkind when 'r' then 'table' when 'S' then 'sequence' else 'kind ' || relkind end, relname,
      nullif(' ' || relpersistence, ' p'), ' with ' || reloptions)
    from own where relkind <> 'i'
  union all
  select format('sequence %s: %s from %s by %s, %s to %s, cache %s, cycle %s', relname, format_type(seqtypid, null), seqstart,
      seqincrement, seqmin, seqmax, seqcache, seqcycle)
    from own join pg_sequence on seqrelid = rel
  union all
  select format('column %s.%s %s %s%s%s%s', relname, to_char(row_number() over (partition by rel order by attnum), 'fm00'),
      attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' end,
      ' identity ' || nullif(attidentity::text, ''),
      case when attgenerated = '' then ' default ' else ' generated ' end || pg_get_expr(adbin, adrelid))
    from own join pg_attribute on attrelid = rel and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where relkind = 'r'
  union all
  -- PostgreSQL 18 also lists what the columns already say: not null.
  select format('constraint %s.%s %s', relname, conname, pg_get_constraintdef(c.oid))
    from own join pg_constraint c on conrelid = rel where contype <> 'n'
  union all
  select format('index %s%s', pg_get_indexdef(rel), case when not indisvalid then ' invalid' end)
    from own join pg_index on indexrelid = rel
  union all
  select pg_get_triggerdef(t.oid) from own join pg_trigger t on tgrelid = rel where not tgisinternal
  union all
  select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  union all
  select format('comment on %s: %s', pg_describe_object(classoid, objoid, objsubid), description)
    from pg_description where objoid >= 16384`

/** Everything that the migrations of a database made, as text that can be compared: each object stands on one line or more. */
export async function readSchema(db: Knex): Promise<string> {
  const { rows } = await db.raw<{ rows: { line: string }[] }>(schemaSql)
  const lines = rows.map(({ line }) => line.trimEnd())
  return `${lines.sort().join('\n')}\n`
}
