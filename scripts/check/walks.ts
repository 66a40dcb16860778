import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { keepDocument, table } from './keep-document.js'

// How many files somebody reads who follows a request through the code. A walk follows, from its starts, every function that is
// called or handed on, each once and in the order of the source. A file counts when a function of it is entered.

/** Where each walk begins: a request, the workers' batches that go on with it, and what they call through a port or a kind. */
const walks: Readonly<Record<string, readonly string[]>> = {
  'a signature, from `POST /chain/tips/create` to its final credit': [
    'src/tips/routes.ts recordRoute',
    'src/tips/verify-tips.ts createVerifierBatch',
    'src/providers/solana/statuses.ts createStatusReader',
    'src/providers/solana/statuses.ts findDropped',
    'src/providers/solana/solana-chain.ts readTransactions',
  ],
  'a withdrawal, from `POST /payouts/withdraw` to `completed`': [
    'src/withdrawals/routes.ts withdrawRoute',
    'src/outgoing/send.ts createSendBatch',
    'src/withdrawals/send/payout-kind.ts payoutKind',
    'src/providers/fiatpay/payout-sender.ts createFiatpayPayoutSender',
    'src/outgoing/follow.ts createFollowBatch',
    'src/withdrawals/withdrawal-kind.ts withdrawalKind',
    'src/providers/fiatpay/payouts.ts createFiatpayPayouts',
  ],
}

/** What every request passes is not counted: the toolkits and the values below the features. */
const uncounted = /^src\/(?:http|platform|ports|kernel)\//

interface Source {
  /** The functions, classes and objects with functions, by name. */
  readonly declared: ReadonlyMap<string, ts.Node>
  readonly imported: ReadonlyMap<string, readonly [file: string, name: string]>
}

const sources = new Map<string, Source>()

function sourceOf(file: string): Source {
  const read = sources.get(file) ?? readSource(file)
  sources.set(file, read)
  return read
}

function readSource(file: string): Source {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  return {
    declared: new Map(statements.flatMap(declaredIn)),
    imported: new Map(statements.flatMap((statement) => importedIn(file, statement))),
  }
}

function declaredIn(statement: ts.Statement): [string, ts.Node][] {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
    return [[statement.name?.text ?? '', statement]]
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
    initializer !== undefined && hasFunction(initializer) ? [[name.getText(), initializer]] : [],
  )
}

function importedIn(file: string, statement: ts.Statement): [string, readonly [string, string]][] {
  if (!ts.isImportDeclaration(statement)) return []
  const path = (statement.moduleSpecifier as ts.StringLiteral).text
  const target = join(dirname(file), path.replace(/[.]js$/, '.ts'))
  const names = statement.importClause?.namedBindings
  if (!path.startsWith('.') || !existsSync(target) || names === undefined || !ts.isNamedImports(names))
    return []
  return names.elements.map(({ name, propertyName }) => [name.text, [target, (propertyName ?? name).text]])
}

function hasFunction(node: ts.Node): boolean {
  return ts.isFunctionLike(node) || ts.forEachChild(node, (child) => hasFunction(child) || undefined) === true
}

/** Whether an identifier names a value where it stands, and not a property or something that is declared there. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node
  const isName = 'name' in parent && parent.name === node
  return !isName || ts.isShorthandPropertyAssignment(parent)
}

interface Walk {
  readonly files: Set<string>
  readonly entered: Set<string>
  /** Pairs of files, of which the first calls the second. */
  readonly calls: Set<string>
  returns: number
  again: number
}

function enter(walk: Walk, from: string, file: string, name: string): void {
  const declaration = sourceOf(file).declared.get(name)
  if (declaration === undefined || uncounted.test(file)) return
  const call = `${from} ${file}`
  if (from !== file && !walk.calls.has(call)) {
    walk.calls.add(call)
    if (dirname(from).startsWith(`${dirname(file)}/`)) walk.returns++
    if (walk.files.has(file)) walk.again++
  }
  walk.files.add(file)
  if (walk.entered.has(`${file} ${name}`)) return
  walk.entered.add(`${file} ${name}`)
  follow(walk, file, declaration)
}

function follow(walk: Walk, file: string, node: ts.Node): void {
  if (ts.isTypeNode(node)) return
  if (ts.isIdentifier(node) && isValue(node)) {
    const { declared, imported } = sourceOf(file)
    const [target, name] = declared.has(node.text) ? [file, node.text] : (imported.get(node.text) ?? [])
    if (target !== undefined && name !== undefined) enter(walk, file, target, name)
  }
  ts.forEachChild(node, (child) => follow(walk, file, child))
}

const rows = Object.entries(walks).map(([title, starts]) => {
  const walk: Walk = { files: new Set(), entered: new Set(), calls: new Set(), returns: 0, again: 0 }
  for (const start of starts) {
    const [file = '', name = ''] = start.split(' ')
    if (!sourceOf(file).declared.has(name)) throw new Error(`a walk starts at ${start}, which is not there`)
    enter(walk, file, file, name)
  }
  if (process.argv.includes('--list')) process.stdout.write(`${[title, ...walk.files].join('\n')}\n\n`)
  return [title, walk.files.size, walk.returns, walk.again].map((cell) => ` ${cell} `)
})

const document = 'docs/architecture.md'
const [begin, end] = ['<!-- walks: made by npm run check -- --fix -->\n', '\n<!-- end of walks -->']
const [before, rest = ''] = readFileSync(document, 'utf8').split(begin)
const heads = [' walk ', ' files ', ' returns ', ' entered again ']
keepDocument(document, `${before}${begin}${table(heads, rows)}${end}${rest.split(end)[1] ?? ''}`)
