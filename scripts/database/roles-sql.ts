import { serverLimits } from '../../src/platform/database/database.js'
import { type RoleKind, roleKinds, type TableRights, tableRights } from './table-rights.js'

const prefix = 'tipping_'

/** The database role of a kind of process. */
export const roleOf = (kind: RoleKind): string => `${prefix}${kind.replaceAll('-', '_')}`

/**
 * SQL that makes the roles, if they are missing, with their limits of time, and gives each exactly what the list says: it takes
 * everything else from them.
 * It may run again at any time. `passwordSql`: sets passwords, for servers that ask for one.
 */
export function rolesSql(passwordSql = ''): string {
  const roles = roleKinds.map(roleOf)
  const all = roles.join(', ')
  return [
    ...roles.map(
      (role) =>
        `do $$ begin if to_regrole('${role}') is null then create role ${role} login; end if; end $$;`,
    ),
    ...(passwordSql === '' ? [] : [passwordSql]),
    ...roles.flatMap((role) =>
      Object.entries(serverLimits).map(([name, ms]) => `alter role ${role} set ${name} = '${ms}ms';`),
    ),
    'begin;',
    `revoke all on all tables in schema public from ${all};`,
    `revoke all on all sequences in schema public from ${all};`,
    `grant usage on schema public to ${all};`,
    ...Object.entries(tableRights).flatMap(([table, rights]) => grantsOn(table, rights)),
    'commit;',
    '',
  ].join('\n')
}

function grantsOn(table: string, rights: TableRights): string[] {
  const { read = [], append = [], change = [], write = [], moved = [], sequence } = rights
  const plain: readonly [verbs: readonly Verb[], kinds: readonly RoleKind[]][] = [
    [['select'], read],
    [['select', 'insert'], append],
    [['select', 'insert', 'update'], change],
    [['select', 'insert', 'update', 'delete'], write],
  ]
  return [
    ...plain.flatMap(([verbs, kinds]) => verbs.flatMap((verb) => grantOf(table, verb, kinds, rights))),
    ...(moved.length === 0 ? [] : [`grant update (${moved.join(', ')}) on ${table} to ${list(append)};`]),
    ...(sequence === undefined ? [] : [`grant usage on sequence ${sequence} to ${list(append)};`]),
  ]
}

type Verb = 'select' | 'insert' | 'update' | 'delete'

/** One verb: for the whole table, and without the columns that are not theirs for everybody else. */
function grantOf(
  table: string,
  verb: Verb,
  kinds: readonly RoleKind[],
  { secret, kept }: TableRights,
): string[] {
  const closed = [secret, verb === 'select' ? undefined : kept].filter((one) => one !== undefined)
  const whole = kinds.filter((kind) => verb === 'delete' || closed.every(({ to }) => to.includes(kind)))
  const partly = kinds.filter((kind) => !whole.includes(kind))
  return [
    ...(whole.length === 0 ? [] : [`grant ${verb} on ${table} to ${list(whole)};`]),
    ...partly.map((kind) => {
      const columns = closed.filter(({ to }) => !to.includes(kind)).flatMap((one) => one.columns)
      return grantExcept(table, verb, kind, columns)
    }),
  ]
}

/** The columns are read when it runs, so that a new column is not forgotten. */
function grantExcept(table: string, verb: Verb, kind: RoleKind, columns: readonly string[]): string {
  return `do $$ begin execute (select format('grant ${verb} (%s) on ${table} to ${roleOf(kind)}', string_agg(quote_ident(attname), ', '))
  from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attname <> all ('{${columns.join(', ')}}')); end $$;`
}

const list = (kinds: readonly RoleKind[]): string => kinds.map(roleOf).join(', ')

/** The URL with which a process of this kind connects. It keeps the password, if there is one. */
export function urlOfRole(databaseUrl: string, kind: RoleKind): string {
  const url = new URL(databaseUrl)
  url.username = roleOf(kind)
  return url.href
}
