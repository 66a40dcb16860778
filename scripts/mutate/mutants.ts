import ts from 'typescript'

// Mutants: copies of a source with one small fault each. A test that does not notice one would not notice such a mistake either.

export interface Mutant {
  /** The line on which it begins, without its indentation. */
  readonly line: string
  /** `a < b -> a <= b`. */
  readonly change: string
  /** The source with this fault, compiled. */
  readonly code: string
}

const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '**': ['*'],
  '+=': ['-='],
  '-=': ['+='],
  '&&': ['||'],
  '||': ['&&'],
}
/** Methods with their opposites. Undefined: the call is left out. */
const methods = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['padStart', 'padEnd'],
  ['padEnd', 'padStart'],
  ['min', 'max'],
  ['max', 'min'],
  ...['filter', 'sort', 'toSorted', 'slice', 'reverse', 'replace', 'toLowerCase'].map(
    (name) => [name, undefined] as const,
  ),
])

/** Every mutant of a source, in the order of the text. One that is no valid TypeScript is none. */
export function mutantsOf(text: string): Mutant[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const lines = text.split('\n')
  return changesIn(source).flatMap(({ at, was, becomes }) => {
    const code = compiled(text.slice(0, at) + becomes + text.slice(at + was.length))
    if (code === undefined) return []
    const { line } = source.getLineAndCharacterOfPosition(at)
    return { line: lines[line]?.trim() ?? '', change: `${inOneLine(was)} -> ${inOneLine(becomes)}`, code }
  })
}

interface Change {
  readonly at: number
  readonly was: string
  readonly becomes: string
}

/** The changes of a node and of what is in it. Types and imports have none. */
function changesIn(node: ts.Node): Change[] {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return []
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return []
  const inner: Change[] = []
  ts.forEachChild(node, (child) => void inner.push(...changesIn(child)))
  if (ts.isSourceFile(node)) return inner
  const [at, was] = [node.getStart(), node.getText()]
  const own = [...changesOf(node), ...leftOut(node), ...constantsFor(node)].map((becomes) => ({
    at,
    was,
    becomes,
  }))
  const ofSql = isSql(node) ? sqlChanges(was).map((change) => ({ ...change, at: at + change.at })) : []
  return [...own.filter(({ becomes }) => becomes !== was), ...ofSql, ...inner]
}

/** Undefined: it is no valid TypeScript. */
function compiled(text: string): string | undefined {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
  }
  const { outputText, diagnostics } = ts.transpileModule(text, { compilerOptions, reportDiagnostics: true })
  return diagnostics?.length === 0 ? outputText : undefined
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** What stands in the place of an expression in its mutants. */
function changesOf(node: ts.Node): string[] {
  if (ts.isBinaryExpression(node)) return ofBinary(node)
  if (ts.isPrefixUnaryExpression(node) && /^[!-]/.test(node.getText())) return [node.operand.getText()]
  if (ts.isPostfixUnaryExpression(node)) return [node.getText().replace('++', '--')]
  if (ts.isCallExpression(node)) return ofCall(node)
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false']
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true']
  if (ts.isNumericLiteral(node)) return [String(Number(node.text) + 1)]
  if (ts.isBigIntLiteral(node)) return [`${BigInt(node.text.slice(0, -1)) + 1n}n`]
  return []
}

function ofBinary({ left, operatorToken, right }: ts.BinaryExpression): string[] {
  const [one, operator, other] = [left, operatorToken, right].map((part) => part.getText())
  if (operator === '??') return [`(${one})`, `(${other})`]
  return (operators[operator ?? ''] ?? []).map((becomes) => `${one} ${becomes} ${other}`)
}

function ofCall({ expression: called, arguments: given }: ts.CallExpression): string[] {
  if (!ts.isPropertyAccessExpression(called) || !methods.has(called.name.text)) return []
  const opposite = methods.get(called.name.text)
  const on = called.expression.getText()
  const values = given.map((argument) => argument.getText()).join(', ')
  return [opposite === undefined ? on : `${on}.${opposite}(${values})`]
}

/** A condition that is always true or always false. To leave out the one statement of an `if` is the same as the latter. */
function constantsFor(node: ts.Node): string[] {
  const { parent } = node
  if (ts.isConditionalExpression(parent) && parent.condition === node) return ['true', 'false']
  if (!ts.isIfStatement(parent) || parent.expression !== node) return []
  return parent.elseStatement === undefined && !ts.isBlock(parent.thenStatement)
    ? ['true']
    : ['true', 'false']
}

/** A statement, or the value of a function, is left out. */
function leftOut(node: ts.Node): string[] {
  if (ts.isExpressionStatement(node) || ts.isThrowStatement(node)) return [';']
  if (ts.isReturnStatement(node)) return node.expression === undefined ? [';'] : ['return undefined']
  const { parent } = node
  if (ts.isArrowFunction(parent) && parent.body === node && !ts.isBlock(node)) return ['undefined']
  return []
}

/** SQL, or a condition of it. */
function isSql(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return false
  return /\b(select|insert into|update|delete from)\s|\bis null\b/.test(node.getText())
}

const sqlWords: readonly (readonly [was: RegExp, becomes: string])[] = [
  [/\bfor (no key )?update( of \w+)?/g, ''],
  [/\bon conflict( \(\w+\))? do nothing\b/g, ''],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/\bnot (?!null|conflict|exists)/g, ''],
  [/\bnot exists\b/g, 'exists'],
  [/\bdesc\b/g, ''],
  [/\bgreatest\b/g, 'least'],
  [/\bbool_or\b/g, 'bool_and'],
  [/\bdistinct\b/g, ''],
]
const sqlOperators: Readonly<Record<string, string>> = {
  '=': '<>',
  '<>': '=',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
}
const conditionEnd =
  /^([),]|\s(and|or|order|group|having|limit|on|for|returning|union|where|then|end|join|left|cross)\b)/

function sqlChanges(text: string): Change[] {
  const words = sqlWords.flatMap(([was, becomes]) =>
    [...text.matchAll(was)].map((match) => ({ at: match.index, was: match[0], becomes })),
  )
  const signs = [...text.matchAll(/([^\s`'(]+) (=|<>|<=?|>=?|[+-]) (?=([^\s`,;)]+))/g)].map(
    ({ index: at, 1: one = '', 2: sign = '', 3: other = '' }) => ({
      at,
      was: `${one} ${sign} ${other}`,
      becomes: `${one} ${sqlOperators[sign]} ${other}`,
      assigns: sign === '=' && isAssignment(text.slice(0, at)),
    }),
  )
  return [...words, ...signs.filter(({ assigns }) => !assigns), ...conditionsIn(text)]
}

/** Whether an equals sign after this text is one of `set`. */
function isAssignment(before: string): boolean {
  return before.match(/\b(set|where|and|or|on|when|having|select)\b/g)?.at(-1) === 'set'
}

/** Each condition is taken for granted: it is true, or as an alternative false. */
function conditionsIn(text: string): Change[] {
  return [...text.matchAll(/\b(where|and|or|on|having|when)\s+(?!conflict\b)/g)].flatMap((match) => {
    const at = match.index + match[0].length
    const was = conditionAt(text.slice(0, -1), at)
    return was === '' ? [] : [{ at, was, becomes: match[1] === 'or' ? 'false' : 'true' }]
  })
}

/** The condition that begins here, up to its end at the same depth of parentheses. */
function conditionAt(text: string, start: number): string {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (depth === 0 && conditionEnd.test(text.slice(at))) return text.slice(start, at).trimEnd()
    if (/[({]/.test(text[at] ?? '')) depth++
    if (/[)}]/.test(text[at] ?? '')) depth--
  }
  return text.slice(start).trimEnd()
}
