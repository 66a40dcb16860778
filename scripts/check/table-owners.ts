import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

// Checks that only the owner of a table writes it: the list below, against the SQL and the query builder in the sources.

/** The folder that writes each table. Others call its functions. Reading is free. */
const owners: Readonly<Record<string, readonly string[]>> = {
  'src/platform/database': ['database_epoch', 'idempotency_keys', 'switches'],
  'src/platform/monitoring': ['heartbeats', 'measurements'],
  'src/mail': ['emails'],
  'src/accounts': [
    'access_tokens',
    'code_attempts',
    'devices',
    'email_changes',
    'one_time_secrets',
    'parties',
    'passkeys',
    'payout_wallets',
    'recovery_codes',
    'sessions',
    'totp_factors',
    'users',
    'wallet_key_checks',
    'wallet_watches',
    'wallets',
  ],
  'src/creators': ['api_keys', 'creator_domains'],
  'src/market': ['prices', 'rates'],
  'src/ledger': ['custody', 'ledger_accounts', 'ledger_entries', 'ledger_transfers', 'receivables'],
  'src/events': ['event_counters', 'events'],
  'src/webhooks': ['webhook_deliveries', 'webhook_endpoints'],
  'src/overlay': ['overlay_pictures', 'overlays', 'tip_decisions'],
  'src/intents': ['payment_intents'],
  'src/tips': ['creator_cursors', 'tip_claims', 'tip_mails', 'tip_sums', 'tips'],
  'src/fiat': [
    'card_reserves',
    'collection_differences',
    'dispute_polls',
    'disputes',
    'fiat_intents',
    'fiat_payments',
    'payers',
    'payment_returns',
    'refunds',
    'suspense_items',
  ],
  'src/withdrawals': ['banks', 'payees', 'reconciliation_differences', 'review_items', 'withdrawals'],
  'src/treasury': ['sweep_parts', 'sweeps', 'wallet_transfers'],
  'src/reserves': ['float_readings', 'report_keys', 'reserve_reports'],
  'src/receipts': ['receipt_keys', 'status_link_key'],
  'src/sdk': ['sdk_sessions'],
  'src/public-page': ['creator_pages', 'page_handles'],
  'src/privacy': ['data_exports', 'data_keys'],
  'scripts/ops': ['audit_log'],
}

/** Files that write tables of others, and why. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // One statement confirms a lot of tips with their intents and sessions: docs/decisions/0009 has the reasons.
  'src/tips/confirm/confirm-tips.ts': ['payment_intents', 'sdk_sessions'],
  // A paid tip ends its session in the statement that confirms it.
  'src/tips/fiat-tip.ts': ['sdk_sessions'],
}

/** Places that are not the product: they fill and break databases of their own. */
const free = /^scripts\/(bench|faults|simulate)\//
const places = ['src', 'workers', 'scripts']
/** The modules whose statements take their table from a description. */
const generic = [
  'src/platform/database/due-rows.ts',
  'src/outgoing/steps.ts',
  'src/outgoing/differences.ts',
  'src/privacy/keys/reseal.ts',
]

const writeWords = 'insert\\s+into|update(?:\\s+only)?|delete\\s+from(?:\\s+only)?|merge\\s+into|truncate'
const write = new RegExp(`\\b(?:${writeWords})\\s+([a-z_]+)`, 'gi')
/** The end of SQL whose table is a variable. */
const writeOfVariable = new RegExp(`\\b(?:${writeWords})\\s+$`, 'i')
/** The methods of knex and Objection that write. */
const builderWrites = /^(insert|upsert|update|patch|delete|del|truncate|increment|decrement|relate|unrelate)/

const ownerOf = new Map(
  Object.entries(owners).flatMap(([owner, tables]) => tables.map((table) => [table, owner])),
)

interface Write {
  /** Undefined: named by a variable. */
  readonly table: string | undefined
  readonly line: number
}

/** What a source writes, in SQL, with knex or with a model. `models`: the tables by the names of their models. */
export function writesIn(text: string, models: ReadonlyMap<string, string>): Write[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest)
  const found: Write[] = []
  const visit = (node: ts.Node): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
    const tables = isSqlText(node) ? tablesIn(node.text) : [tableOfBuilder(node, models)].filter(isText)
    found.push(...tables.filter((table) => ownerOf.has(table)).map((table) => ({ table, line })))
    if ((ts.isTemplateHead(node) || ts.isTemplateMiddle(node)) && writeOfVariable.test(node.text))
      found.push({ table: undefined, line })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const isText = (text: string | undefined): text is string => text !== undefined

/** A literal, or a piece of a template. */
export function isSqlText(node: ts.Node): node is ts.LiteralLikeNode {
  return ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
}

function tablesIn(sql: string): string[] {
  return [...sql.matchAll(write)].map(([, table = '']) => table.toLowerCase())
}

/** The table of a chain that writes: `trx('users').where(…).update(…)`, `User.query(trx).patch(…)`. */
function tableOfBuilder(node: ts.Node, models: ReadonlyMap<string, string>): string | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  if (!builderWrites.test(node.expression.name.text)) return undefined
  let inner: ts.Expression = node.expression.expression
  while (ts.isCallExpression(inner) && ts.isPropertyAccessExpression(inner.expression))
    inner = inner.expression.expression
  if (ts.isIdentifier(inner)) return models.get(inner.text)
  const [table] = ts.isCallExpression(inner) ? inner.arguments : []
  return table !== undefined && ts.isStringLiteralLike(table) ? table.text : undefined
}

/** The writes of a file that are not its own to make. */
function faultsOf(file: string, writes: readonly Write[]): string[] {
  return writes.flatMap(({ table, line }) => {
    if (table === undefined)
      return generic.includes(file)
        ? []
        : [`${file}:${line} writes a table that a variable names: name it, or use ${generic.join(' or ')}`]
    const owner = ownerOf.get(table)
    if (file.startsWith(`${owner}/`) || exceptions[file]?.includes(table) === true) return []
    return [`${file}:${line} writes ${table}, which ${owner} owns: call a function there`]
  })
}

/** The SQL of the migrations, without its comments. */
export function readSchema(): string {
  const files = readdirSync('migrations').filter((file) => file.endsWith('.ts'))
  return files
    .map((file) => readFileSync(join('migrations', file), 'utf8'))
    .join('\n')
    .replaceAll(/--.*/g, '')
}

/** Tables of the migrations that the list does not have, and the other way round. */
function unlisted(): string[] {
  const created = new Set(
    [...readSchema().matchAll(/create (?:unlogged )?table (?:if not exists )?([a-z_]+)/g)].map(
      ([, table = '']) => table,
    ),
  )
  return [
    ...[...created]
      .filter((table) => !ownerOf.has(table))
      .map((table) => `${table} has no owner in scripts/check/table-owners.ts`),
    ...[...ownerOf.keys()]
      .filter((table) => !created.has(table))
      .map((table) => `no migration creates ${table}`),
  ]
}

/** The tables of the models, by the names of their classes. */
function readModels(files: readonly string[]): Map<string, string> {
  const model = /class (\w+) extends BaseModel \{\s+static override tableName = '([a-z_]+)'/g
  const all = files.filter((file) => file.endsWith('/models.ts')).map((file) => readFileSync(file, 'utf8'))
  return new Map(
    all.flatMap((text) => [...text.matchAll(model)].map(([, name = '', table = '']) => [name, table])),
  )
}

function check(): string[] {
  const files = places
    .flatMap((place) =>
      readdirSync(place, { recursive: true, encoding: 'utf8' }).map((file) => join(place, file)),
    )
    .filter((file) => /[.]tsx?$/.test(file) && !free.test(file))
  const models = readModels(files)
  const written = new Map(files.map((file) => [file, writesIn(readFileSync(file, 'utf8'), models)]))
  const unused = Object.entries(exceptions).flatMap(([file, tables]) =>
    tables
      .filter((table) => !written.get(file)?.some((one) => one.table === table))
      .map((table) => `${file} does not write ${table} any more: remove the exception`),
  )
  return [...unlisted(), ...[...written].flatMap(([file, writes]) => faultsOf(file, writes)), ...unused]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = check()
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
