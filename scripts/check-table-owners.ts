import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

// Checks that only the owner of a table writes it: the list below, against the SQL and the query builder in the sources.

/** The folder that writes each table. Others call its functions. Reading is free. */
const owners: Readonly<Record<string, readonly string[]>> = {
  'src/platform/database': ['idempotency_keys'],
  'src/mail': ['emails'],
  'src/accounts': [
    'access_tokens',
    'otp_codes',
    'parties',
    'sessions',
    'users',
    'wallet_key_checks',
    'wallets',
  ],
  'src/creators': ['api_keys', 'creator_domains', 'domain_challenges'],
  'src/market': ['prices', 'rates'],
  'src/ledger': ['ledger_accounts', 'ledger_entries', 'ledger_transfers'],
  'src/intents': ['payment_intents'],
  'src/tips': ['creator_cursors', 'tip_claims', 'tip_sums', 'tips'],
  'src/fiat': ['fiat_intents', 'fiat_payments', 'payers', 'suspense_items'],
  'src/withdrawals': ['banks', 'reconciliation_differences', 'review_items', 'withdrawals'],
  'src/sdk': ['sdk_handoffs', 'sdk_sessions'],
  'scripts/ops': ['audit_log'],
}

/** Files that write tables of others, and why. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // One statement confirms a lot of tips with their intents and sessions: docs/architecture.md has the figures.
  'src/tips/confirm/confirm-tips.ts': ['payment_intents', 'sdk_sessions'],
}

/** Places that are not the product: they fill and break databases of their own. */
const free = /^scripts\/(bench|faults)\//
const places = ['src', 'workers', 'scripts']
const builderWrites = new Set(['insert', 'update', 'delete', 'del', 'patch', 'truncate'])

const ownerOf = new Map(
  Object.entries(owners).flatMap(([owner, tables]) => tables.map((table) => [table, owner])),
)

/** The tables that a piece of SQL writes. */
function writtenIn(sql: string): string[] {
  const writes =
    /\b(?:insert\s+into|update(?:\s+only)?|delete\s+from(?:\s+only)?|merge\s+into|truncate)\s+([a-z_]+)/gi
  return [...sql.matchAll(writes)].map(([, table = '']) => table.toLowerCase())
}

/** The table of a query builder's chain that writes: `trx('users').where(…).update(…)`. */
function writtenByBuilder(node: ts.Node): string[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  if (!builderWrites.has(node.expression.name.text)) return []
  let inner: ts.Expression = node.expression.expression
  while (ts.isCallExpression(inner) && ts.isPropertyAccessExpression(inner.expression))
    inner = inner.expression.expression
  const [table] = ts.isCallExpression(inner) ? inner.arguments : []
  return table !== undefined && ts.isStringLiteralLike(table) ? [table.text] : []
}

interface Write {
  readonly table: string
  readonly line: number
}

function writesOf(file: string): Write[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  const found: Write[] = []
  const visit = (node: ts.Node): void => {
    const text =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    const tables = text ? writtenIn((node as ts.LiteralLikeNode).text) : writtenByBuilder(node)
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
    found.push(...tables.filter((table) => ownerOf.has(table)).map((table) => ({ table, line })))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function faultsOf(file: string): string[] {
  return writesOf(file)
    .filter(
      ({ table }) => !file.startsWith(`${ownerOf.get(table)}/`) && exceptions[file]?.includes(table) !== true,
    )
    .map(
      ({ table, line }) =>
        `${file}:${line} writes ${table}, which ${ownerOf.get(table)} owns: call a function there`,
    )
}

/** Tables of the migrations that the list does not have, and the other way round. */
function unlisted(): string[] {
  const created = new Set(
    readdirSync('migrations').flatMap((file) =>
      [
        ...readFileSync(join('migrations', file), 'utf8').matchAll(
          /create (?:unlogged )?table (?:if not exists )?([a-z_]+)/g,
        ),
      ].map(([, table = '']) => table),
    ),
  )
  return [
    ...[...created]
      .filter((table) => !ownerOf.has(table))
      .map((table) => `${table} has no owner in ${import.meta.url}`),
    ...[...ownerOf.keys()]
      .filter((table) => !created.has(table))
      .map((table) => `no migration creates ${table}`),
  ]
}

const files = places
  .flatMap((place) =>
    readdirSync(place, { recursive: true, encoding: 'utf8' }).map((file) => join(place, file)),
  )
  .filter((file) => /[.]tsx?$/.test(file) && !free.test(file))
const unused = Object.entries(exceptions).flatMap(([file, tables]) => {
  const written = new Set(writesOf(file).map(({ table }) => table))
  return tables
    .filter((table) => !written.has(table))
    .map((table) => `${file} does not write ${table} any more: remove the exception`)
})
const faults = [...unlisted(), ...files.flatMap(faultsOf), ...unused]
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
