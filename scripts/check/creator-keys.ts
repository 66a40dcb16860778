import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { keepDocument, table } from './keep-document.js'
import { isSqlText, readSchema } from './table-owners.js'

// Checks what docs/scale.md says of a database divided by creator: that each table has its key, that foreign keys stay within a
// creator, and that each named statement on such a table names the creator or is listed below with the reason.

/** Tables that grow with creators, by the column that names the creator. A party is a creator's other name. */
const keys: Readonly<Record<string, readonly string[]>> = {
  id: ['data_exports', 'users'],
  user_id: [
    'access_tokens',
    'api_keys',
    'code_attempts',
    'creator_domains',
    'creator_pages',
    'custody',
    'devices',
    'email_changes',
    'event_counters',
    'events',
    'fiat_intents',
    'ledger_accounts',
    'one_time_secrets',
    'overlay_pictures',
    'overlays',
    'page_handles',
    'parties',
    'passkeys',
    'payees',
    'payout_wallets',
    'recovery_codes',
    'refunds',
    'sdk_sessions',
    'sessions',
    'sweep_parts',
    'tip_decisions',
    'totp_factors',
    'wallet_transfers',
    'wallets',
    'webhook_deliveries',
    'webhook_endpoints',
    'withdrawals',
  ],
  creator_id: ['receivables'],
  recipient_party: ['payment_intents', 'tips'],
  party_id: ['creator_cursors', 'tip_mails', 'tip_sums'],
}
/** Tables of creators' rows that are reached by a row with such a column. */
const led = [
  ...'card_reserves disputes fiat_payments ledger_entries ledger_transfers payment_returns review_items'.split(
    ' ',
  ),
  ...'suspense_items tip_claims wallet_watches'.split(' '),
]
/** Small, read everywhere and seldom written: a copy in each shard. */
const copied = 'banks data_keys database_epoch prices rates switches wallet_key_checks'.split(' ')
/** Of the platform, or found by a hash of their own: one place, or any. */
const apart = [
  ...'audit_log collection_differences dispute_polls emails float_readings heartbeats idempotency_keys'.split(
    ' ',
  ),
  ...'measurements payers receipt_keys reconciliation_differences report_keys reserve_reports'.split(' '),
  ...'status_link_key sweeps'.split(' '),
]

/** Statements that do not name their creator: why, what each shard's service would do instead, and which. */
const reasons: readonly (readonly [reason: string, then: string, statements: string])[] = [
  [
    'a row by its id, read before with its creator',
    'the creator joins the condition',
    `accounts.forget-\${table}, card-reserves.add, card-reserves.available-at, card-reserves.free, card-reserves.micro, codes.use,
    confirmation.mark, debts.wait, disputes.finish, disputes.tip, exports.\${name}, fiat.assign, fiat.close, fiat.close-cancelled,
    fiat.complete, fiat.gone-cents, fiat.payment, fiat.session-intents, fiat.status, fiat.suspense, held.release,
    identity.confirm-next, passkeys.use, payouts.adopt-held, payouts.name, payouts.recredited, payouts.release-from-limits,
    payouts.resolve, payouts.wait, payouts.watch, receivables.close, receivables.cover, receivables.find, refunds.count, refunds.credited,
    refunds.disputed, refunds.find, refunds.list, refunds.lock, refunds.of-suspense, refunds.of-tip, refunds.tip-amount,
    reviews.list-closed, reviews.open, reviews.\${to}, sdk_sessions.count-intent, sdk_sessions.why-ended, suspense.find,
    suspense.give-back, suspense.give-to-refund, suspense.refund-order, suspense.resolve, suspense.take-part, suspense.wait-again,
    take-outs.end, take-outs.expire, take-outs.lock, take-outs.other-signature, take-outs.refuse, take-outs.sign,
    take-outs.undecided, tips.fiat-disputed, tips.fiat-lock, tips.fiat-refunded, tips.hide-words, webhooks.change,
    webhooks.describe-pings, webhooks.disable, webhooks.enable, webhooks.make-due, webhooks.point,
    webhooks.redeliver-failed, webhooks.settle, webhooks.skip, \${name}.accepted, \${name}.refused, \${name}.replay,
    \${name}.require-unsent, \${name}.sending, \${name}.state, \${name}.shown-again, \${name}.unknown, \${name}.unsent, \${name}.\${to},
    disputes.evidence, fiat.read-locked, payees.confirm, payouts.lock, sdk.intents, tip_decisions.read, webhooks.deliveries,
    webhooks.page`,
  ],
  [
    'what is due, old or sealed with an old key',
    'a worker for each shard',
    `data-keys.count \${table}.\${column}, data-keys.older \${nameOf(one)}, data-keys.reseal \${nameOf(one)}, disputes.remind,
    events.recent, expired.\${table}, exports.delete-expired, fiat.expire, fiat.late, fiat.unlist, page_handles.delete-old,
    payouts.release-key, rates.delete-old, sdk_sessions.delete-old, tips.fiat-unlist, tips.fiat-\${status}, wallets.by-key,
    wallets.older-key, wallets.rotate, webhooks.delete-old, webhooks.take, \${name}.finish, \${name}.make-due, \${name}.next-due,
    \${name}.take,
    overlay.recent, tip-mails.due, tips.recently-confirmed, wallets.provision, webhooks.failing, webhooks.void`,
  ],
  [
    'the whole platform: lists, sums, comparisons',
    'asked of every shard',
    `adopt.owners, compare.own, compare.paid-again, compare.payments, compare.polled, compare.recredited, compare.sent,
    compare.store-\${table}, disputes.list, disputes.sum-under-way, identity.\${column}, ledger.platform-sums, ledger.transfer-before, ops.count-work,
    ops.list-work-\${kind}, ops.measure-state, ops.oldest-due, payouts.daily, payouts.sum-open, refunds.sum-under-way,
    restore.wallets, suspense.list, suspense.sums, sweeps.list, sweeps.lost, take-outs.all-signed, trace.find-names, trace.find-\${name},
    trace.ledger, trace.tip-commands,
    named ? 'reserves.books-of' : 'reserves.books, ops.open-cases, sweeps.parts, tips.uncredited-page`,
  ],
  [
    'a token, credential, handle or e-mail',
    'a directory',
    `emails.reserved, exports.open, overlays.find, page_handles.free, passkeys.find, sdk_sessions.embed, sdk_sessions.find,
    secrets.find, sessions.still-open,
    api_keys.find, creators.by_domain, creators.by_handle, links.has-frozen, otp.account, otp.lock-link, overlay.start,
    overlay_pictures.read, page_handles.find, secrets.pay-link, sessions.find, streams.valid-credentials, tip-mails.of-token`,
  ],
  [
    "the naira provider's name, or our reference",
    'our reference carries the creator',
    `compare.disputes, disputes.describe, disputes.earlier, disputes.find, disputes.holding, disputes.insert, disputes.is-booked,
    disputes.lock, disputes.note-answer, disputes.restore-return, disputes.shares, disputes.store-return, disputes.take-answer,
    disputes.\${before}-\${to}, fiat.wake, payouts.job-failure, payouts.make-due, payouts.reconcile-now, refunds.wake,
    returns.disputes, returns.left, returns.own-refunds, returns.set-returned, returns.wake, suspense.booked-refunds, unsent.old,
    confirmation.find, payouts.outcome, payouts.stored, receipts.crypto, receipts.naira, trace.intent, trace.tip, trace.withdrawal`,
  ],
  [
    'a signature, wallet or message of the chain',
    'by signature; a directory of wallets',
    `custodian.are-custody, parties.insert, parties.read, restore.unknown-signatures, tips.altered-swaps, tips.direct-intents,
    tips.disprove, tips.fill-message, tips.finalize, tips.lock-final, tips.match-intents, tips.owners, tips.record,
    tips.record-found, tips.record-further, tips.record-one, tips.store-further, tips.store-further-credits, watch.known,
    creators.by_wallet, reserves.newest-slot, tips.confirmed-after, tips.describe, tips.facts, tips.match-wallets, tips.newest,
    tips.recipients, tips.stored-facts`,
  ],
  ['their creator, by the argument of a function that makes SQL', 'the same', 'factors.has'],
  [
    'a ledger transfer by its key',
    'the creator joins the condition',
    'ledger.post-many, ledger.reserved, ledger.transfer, tips.credit-keys',
  ],
]

/** What is unique in a table without its creator, by what takes the place of that, as `table (columns)`. */
const uniques: readonly (readonly [kind: string, then: string, lists: string])[] = [
  [
    'drawn at random or counted by us',
    'the creator joins it',
    `access_tokens (token_hash); api_keys (id); api_keys (key_hash); api_keys (prefix); data_exports (token_hash); email_changes (id);
    fiat_intents (id); fiat_intents (provider_reference); ledger_accounts (id); ledger_transfers (id); one_time_secrets (id);
    overlays (token); parties (id); passkeys (id); payees (id); payment_intents (id); payment_intents (reference_key); refunds (id);
    review_items (id); sdk_sessions (embed_id); sdk_sessions (id); sdk_sessions (token_hash); sessions (id); sessions (token_hash);
    tip_claims (id); tip_mails (stop_token); wallet_transfers (id); wallet_transfers (reference_key); wallet_watches (id); wallets (id);
    wallets (public_key); webhook_endpoints (id); withdrawals (id); withdrawals (reference)`,
  ],
  [
    'named by another row of the creator, or an idempotency key hashed with the user',
    'the creator joins it',
    `card_reserves (id); card_reserves (transfer_id); ledger_entries (transfer_id, account_id); ledger_transfers (idem);
    ledger_transfers (resolves); receivables (id); refunds (resolution_transfer); review_items (withdrawal_id, kind);
    suspense_items (provider_transaction); tip_claims (tip_id, claim_hash); tip_decisions (tip_id);
    webhook_deliveries (endpoint_id, sequence); withdrawals (hold_transfer); withdrawals (key_hash);
    withdrawals (resolution_transfer)`,
  ],
  [
    'signature, message',
    'a row divided by signature, confirmed in the transaction of the credit',
    'payment_intents (message_hash); tips (id); wallet_transfers (signature)',
  ],
  [
    'provider reference',
    'our reference beside it carries the creator: it meets the same shard',
    `disputes (id); fiat_payments (provider_transaction); payment_returns (id); refunds (provider_id); withdrawals (provider_id)`,
  ],
  [
    'name of a person or wallet',
    'a directory divided by it',
    `page_handles (handle); parties (wallet); passkeys (credential_id); payout_wallets (wallet); users (email);
    users (lower(discord_handle)); users (lower(sol_domain)); users (lower(twitter_handle))`,
  ],
]
/** Kinds whose members the document only counts. */
const countedKinds = 2

/** Foreign keys that lead from a creator's row to one that is neither a creator's nor copied. */
const crossing: readonly string[] = ['fiat_intents.payer_id', 'sweep_parts.sweep_id']

const keyOf = new Map(Object.entries(keys).flatMap(([key, tables]) => tables.map((one) => [one, key])))
const divided = new Set([...keyOf.keys(), ...led])
const columns = '(?:user_id|creator_id|recipient_party|party_id)'
const touches = new RegExp(`\\b(?:from|join|into|update|only|using)\\s+(${[...divided].join('|')})\\b`, 'i')
/** The creator as a parameter in a condition, or in the columns of an insert. */
const byParameter = new RegExp(
  `\\b${columns}\\)?\\s*(=|is not distinct from|in)\\s*\\(?(\\$|any\\b|\\(?select \\$)` +
    `|insert into \\w+ (as \\w+ )?\\([^)]*\\b${columns}|\\b(users|data_exports) (set\\b.*?)?where id = (\\$|any)|\\bu\\.id = (\\$|any)`,
  'i',
)

/** The names of lists that a statement is given. */
function givenLists(text: string): string[] {
  const lists = [...text.matchAll(/unnest\(.*?\) (?:with ordinality )?(?:as )?(\w+) ?\(/gi)]
  const ctes = [...text.matchAll(/(\w+) as (?:materialized )?\( ?select \* from unnest/gi)]
  const found = [...lists, ...ctes].map(([, name = '']) => name)
  const again = found.flatMap((name) => [
    ...text.matchAll(new RegExp(`(?:from|join|,) ${name} (?:as )?(\\w+)`, 'gi')),
  ])
  return [...found, ...again.map(([, name = '']) => name)]
}

/** Whether a statement is given its creator. A join of two tables by their creator is not enough. */
function namesCreator(text: string): boolean {
  if (byParameter.test(text)) return true
  const lists = givenLists(text).join('|')
  return (
    lists !== '' &&
    new RegExp(
      `\\b(${lists})\\.${columns} (=|is not distinct)|(=|from) (${lists})\\.${columns}\\b`,
      'i',
    ).test(text)
  )
}

interface Named {
  /** The expression in the source, without its quotes. */
  readonly name: string
  readonly file: string
  readonly text: string
}

/** Every object with a name and a text in the sources, with the texts that its text is made of. */
function readStatements(): Named[] {
  const files = ['src', 'workers'].flatMap((place) =>
    readdirSync(place, { recursive: true, encoding: 'utf8' })
      .map((file) => join(place, file))
      .filter((file) => file.endsWith('.ts') && !/^src\/(pages|platform\/database\/database)/.test(file)),
  )
  const sources = files.map((file) =>
    ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
  )
  const shared = new Map(sources.flatMap((source) => [...textsOf(source, isExported)]))
  return sources.flatMap((source) => {
    const own = new Map([...shared, ...textsOf(source, () => true)])
    const found: Named[] = []
    const visit = (node: ts.Node): void => {
      const [name, text] = ['name', 'text'].map((key) => propertyOf(node, key))
      if (name !== undefined && text !== undefined)
        found.push({
          name: name.getText().replaceAll(/^['`]|['`]$/g, ''),
          file: source.fileName,
          text: textOf(text, own).replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' '),
        })
      ts.forEachChild(node, visit)
    }
    visit(source)
    return found
  })
}

function propertyOf(node: ts.Node, key: string): ts.Expression | undefined {
  if (!ts.isObjectLiteralExpression(node)) return undefined
  const property = node.properties.find((one) => one.name?.getText() === key)
  if (property === undefined) return undefined
  if (ts.isShorthandPropertyAssignment(property)) return property.name
  return ts.isPropertyAssignment(property) ? property.initializer : undefined
}

const isExported = (node: ts.VariableStatement | ts.FunctionDeclaration): boolean =>
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/** The constants and functions of a file that may make SQL. */
function textsOf(
  source: ts.SourceFile,
  keep: (node: ts.VariableStatement | ts.FunctionDeclaration) => boolean,
): Map<string, ts.Node> {
  const texts = new Map<string, ts.Node>()
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionDeclaration(node) && node.name !== undefined && keep(node))
      texts.set(node.name.text, node)
    if (ts.isVariableStatement(node) && keep(node))
      for (const { name, initializer } of node.declarationList.declarations)
        if (ts.isIdentifier(name) && initializer !== undefined && !ts.isAwaitExpression(initializer))
          texts.set(name.text, initializer)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return texts
}

/** The literals of an expression, and of what its template and calls name. */
function textOf(expression: ts.Node, texts: ReadonlyMap<string, ts.Node>, seen = new Set<ts.Node>()): string {
  if (seen.has(expression)) return ''
  seen.add(expression)
  const parts: string[] = []
  const visit = (node: ts.Node): void => {
    if (isSqlText(node)) parts.push(node.text)
    const made = ts.isIdentifier(node) ? texts.get(node.text) : undefined
    if (made !== undefined) parts.push(textOf(made, texts, seen))
    ts.forEachChild(node, visit)
  }
  visit(expression)
  return parts.join(' ')
}

/** SQL whose table is a variable. */
const ofVariable = /(?<!do )\b(?:update|from|into|join) (?:set|where|as|t|w|j)\b/

/** What is found and not listed, and what is listed and not found. */
function compare(found: Iterable<string>, listed: Iterable<string>, missing: string): string[] {
  const [there, known] = [new Set(found), new Set(listed)]
  return [
    ...[...there].filter((one) => !known.has(one)).map((one) => `${one} ${missing}`),
    ...[...known].filter((one) => !there.has(one)).map((one) => `${self} lists ${one} for nothing`),
  ]
}
const self = 'scripts/check/creator-keys.ts'
const splitBy = (separator: RegExp, lists: readonly (readonly [string, string, string])[]): string[] =>
  lists.flatMap(([, , text]) => text.split(separator))

interface Table {
  readonly name: string
  readonly body: string
}

function readTables(schema: string): Table[] {
  const form =
    /create (?:unlogged )?table ([a-z_]+) \(([\s\S]*?)\)(?: with \([^)]*\)| partition by range \(\w+\))?;/g
  return [...schema.matchAll(form)].map(([, name = '', body = '']) => ({ name, body }))
}

/** What is unique in the tables of creators without the creator, as `table (columns)`. */
function uniquesOf(schema: string): string[] {
  const inTables = readTables(schema).flatMap(({ name, body }) =>
    [
      ...body.matchAll(/^\s+(?!primary|unique|constraint|check)([a-z_]+) .*\b(?:unique|primary key)\b/gm),
      ...body.matchAll(/^\s+(?:primary key|unique(?: nulls not distinct)?) \((.*)\)/gm),
    ].map(([, list = '']) => [name, list]),
  )
  const apart = [
    ...schema.matchAll(/create unique index \w+ on (\w+) \(([^;]*?)\)(?: where[^;]*)?;/g),
    ...schema.matchAll(/alter table (\w+) add column (\w+) [^;]*unique/g),
  ].map(([, name = '', list = '']) => [name, list])
  return [...inTables, ...apart]
    .filter(
      ([name = '', list = '']) => divided.has(name) && !list.split(', ').includes(keyOf.get(name) ?? ''),
    )
    .map(([name, list]) => `${name} (${list})`)
}

/** Foreign keys as `table.column`, but those to a creator's row or a copied one. */
function crossingOf(tables: readonly Table[]): string[] {
  return tables
    .filter(({ name }) => divided.has(name))
    .flatMap(({ name, body }) =>
      [...body.matchAll(/^\s+([a-z_]+) .*?\breferences ([a-z_]+)/gm)]
        .filter(([, , target = '']) => !divided.has(target) && !copied.includes(target))
        .map(([, column]) => `${name}.${column}`),
    )
}

function hasColumn({ name, body }: Table): boolean {
  const column = keyOf.get(name)
  return column === undefined || new RegExp(`^\\s+${column} `, 'm').test(body)
}

const schema = readSchema()
const tables = readTables(schema)
const statements = readStatements()
const onCreators = statements.filter(
  ({ text }) => text.trim() === '' || ofVariable.test(text) || touches.test(text),
)
const unnamed = onCreators.filter(
  ({ text }) => text.trim() === '' || ofVariable.test(text) || !namesCreator(text),
)
const faults = [
  ...compare(
    tables.map(({ name }) => name),
    [...divided, ...copied, ...apart],
    `has no place in ${self}`,
  ),
  ...tables.filter((one) => !hasColumn(one)).map(({ name }) => `${name} has no column ${keyOf.get(name)}`),
  ...compare(
    unnamed.map(({ name }) => name),
    splitBy(/,\s+/, reasons),
    `does not name its creator: add the condition, or the reason to ${self}`,
  ),
  ...compare(
    uniquesOf(schema),
    splitBy(/;\s+/, uniques),
    `is unique without its creator: say in ${self} what would replace it`,
  ),
  ...compare(crossingOf(tables), crossing, 'leads out of a creator'),
]
for (const fault of faults) process.stdout.write(`${fault}\n`)
if (faults.length > 0) process.exitCode = 1

const mostShown = 20
const code = (all: readonly string[]): string => all.map((one) => `\`${one}\``).join(' ')
const tablesText = table(
  [' tables ', ' key '],
  [
    ...Object.entries(keys).map(([key, all]) => [
      ` ${all.length > mostShown ? `${all.length} more` : code(all)} `,
      ` \`${key}\` `,
    ]),
    [` ${code(led)} `, ' gets `user_id` '],
    [` ${code(copied)} `, ' copied to every shard '],
    [` ${apart.length} more `, ' not of a creator '],
  ],
)
const uniquesText = table(
  [' unique without the creator ', ' what replaces it '],
  uniques.map(([kind, then, text], nth) => {
    const all = text.split(/;\s+/)
    return [` ${kind}: ${nth < countedKinds ? all.length : code(all)} `, ` ${then} `]
  }),
)
const statementsText = table(
  [' statements ', ' begin with ', ' would be '],
  [
    [
      ` ${onCreators.length - unnamed.length} `,
      ' their creator, as a parameter or in what they insert ',
      ' the same ',
    ],
    ...reasons.map(([reason, then, text]) => [` ${text.split(/,\s+/).length} `, ` ${reason} `, ` ${then} `]),
  ],
)
const document = 'docs/scale.md'
const marked = /<!-- (tables|uniques|statements): made by npm run check -- --fix -->\n[\s\S]*?\n<!-- end -->/g
const made: Readonly<Record<string, string>> = {
  tables: tablesText,
  uniques: uniquesText,
  statements: statementsText,
}
keepDocument(
  document,
  readFileSync(document, 'utf8').replaceAll(
    marked,
    (_, name: string) => `<!-- ${name}: made by npm run check -- --fix -->\n${made[name]}\n<!-- end -->`,
  ),
)
