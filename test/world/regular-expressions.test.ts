import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import ts from 'typescript'

/** Expressions that read only what is short, whoever wrote it. Every other one takes time in proportion to its text. */
const shortTexts: Readonly<Record<string, string>> = {
  'kernel/money.ts /0+$/': 'the decimals of an amount',
  'kernel/money.ts /\\B(?=(\\d{3})+$)/g': 'the digits of an amount',
  'manual/calls.ts /^\\| `(\\w+)` \\| (.+) \\| (.+) \\|$/gm': 'the manual',
  'manual/describe-calls.ts /\\[([^\\]]+)\\]\\(#[^)]*\\)/g': 'the manual',
  'manual/page.ts /(?<comment><!--[\\s\\S]*?-->)|(?<string>"[^"]*")|(?<word><\\/?[\\w-]+|>)/g': 'the manual',
  'pages/dashboard/developers/site.ts /\\/.*$/': 'what the owner types',
  'pages/dashboard/sign-in/passkeys.ts /=+$/': 'what btoa makes',
  'pages/lib/amount-text.ts /^\\s*(?<before>US\\$|\\$|USD|₦|NGN|N)?\\s*(?<amount>.*?)\\s*(?<after>\\$|USD|dollars?|₦|NGN|naira|N)?\\s*$/i':
    'what the reader types',
  'pages/lib/amount-text.ts /0+$/': 'what the reader types',
  'pages/lib/money.ts /0+$/': 'the decimals of an amount',
  'platform/config/setting-forms.ts /\\/+$/': 'a setting',
  'sdk/client/request.ts /\\/+$/': 'the address of the service',
}

/** Characters that differ in what expressions take them for, apart from those that an expression names. */
const usual = [...'a0_Z-:/. \n\u00a0\u0301é٣\u200d\ud83d\ude00~\u0001']
const length = 4000
/** Quadratic time is 8 million steps for such a text, and no processor does them in this time. */
const quickMs = 0.5
/** Four times the text takes 4 times as long if the time is linear, and 16 times as long if it is quadratic. */
const mostGrowth = 8
const hangMs = 10_000

interface Literal {
  readonly place: string
  readonly text: string
}

function literalsOf(file: string, source: string): Literal[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const found: Literal[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart())
      found.push({ place: `${file}:${line + 1}`, text: node.text })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

const part =
  /\\[pP]\{[^}]*\}|\\u[\da-f]{4}|\\u\{[^}]*\}|\\x[\da-f]{2}|\\k<\w+>|\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:[:=!]|<[=!]|<\w+>)|\{\d+(?:,\d*)?\}|./gisu

interface Attack {
  readonly start: string
  readonly pump: string
  readonly end: string
}

/** What each part of an expression takes that takes a character. */
function takersOf(parts: readonly string[], flags: string): ReadonlyMap<string, RegExp> {
  const taking = parts.filter((one) => !/^(?:[()|^$*+?]|\(\?.*|\{\d.*\}|\\[bBk].*|\\\d)$/s.test(one))
  return new Map(taking.map((one) => [one, new RegExp(`^(?:${one})$`, flags.replace(/[gym]/g, ''))]))
}

/** Of characters that no part tells apart one is enough. */
function differentCharacters(parts: readonly string[], takers: Iterable<RegExp>): string[] {
  const all = [...takers]
  const named = parts.flatMap((one) => [...one.replace(/^\\(?=\W)/, '')])
  const kinds = new Map<string, string>()
  for (const one of [...named, ...usual].reverse())
    kinds.set(all.map((taker) => Number(taker.test(one))).join(''), one)
  return [...kinds.values()]
}

/** A text that the expression takes up to some part of it, and where its last part or group begins in it. */
interface Taken {
  readonly text: string
  readonly before: string
  /** The texts before the groups that are open. */
  readonly open: readonly string[]
}

function takeNext({ text, before, open }: Taken, one: string, character: string | undefined): Taken {
  if (one.startsWith('(')) return { text, before: text, open: [...open, text] }
  if (one === ')') return { text, before: open.at(-1) ?? '', open: open.slice(0, -1) }
  if (one === '|') return { text: open.at(-1) ?? '', before, open }
  if (one.startsWith('{')) {
    const times = Number.parseInt(one.slice(1), 10)
    return { text: before + text.slice(before.length).repeat(times), before, open }
  }
  return character === undefined ? { text, before, open } : { text: text + character, before: text, open }
}

/**
 * Texts that may make an expression go back: the beginning up to each repetition, then again and again what the repetition or any other part
 * takes, then what it does not take.
 */
function attacksOn(source: string, flags: string): Attack[] {
  const parts = source.match(part) ?? []
  const takers = takersOf(parts, flags)
  const characters = differentCharacters(parts, takers.values())
  const starts = new Set<string>()
  const pumps = new Set(characters.flatMap((one) => [one, ...characters.map((other) => one + other)]))
  let taken: Taken = { text: '', before: '', open: [] }
  for (const one of parts) {
    if (/^[*+]|^\{\d+,/.test(one))
      for (const pump of [taken.before, taken.text.slice(taken.before.length)]) {
        starts.add(taken.before)
        if (pump !== '') pumps.add(pump)
      }
    const taker = takers.get(one)
    taken = takeNext(taken, one, taker && characters.find((character) => taker.test(character)))
  }
  const ends = ['', '\u0001', '\n', 'a']
  return [...starts].flatMap((start) =>
    [...pumps].flatMap((pump) => ends.map((end) => ({ start, pump, end }))),
  )
}

/** The least of a few times, since other programs take the processor, too. */
function leastMs(expression: RegExp, text: string, times: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < times; i++) {
    expression.lastIndex = 0
    const startedAt = performance.now()
    // An empty match stays where it is.
    for (
      let match = expression.exec(text);
      match !== null && expression.global;
      match = expression.exec(text)
    )
      if (match[0] === '') expression.lastIndex += 1
    least = Math.min(least, performance.now() - startedAt)
  }
  return least
}

/** The text for which the time of an expression grows faster than the text. Undefined: there is none. */
function slowText(literal: string): string | undefined {
  const end = literal.lastIndexOf('/')
  const [source, flags] = [literal.slice(1, end), literal.slice(end + 1)]
  const expression = new RegExp(source, flags)
  let tried = ''
  const find = (): string | undefined => {
    for (const { start, pump, end } of attacksOn(source, flags)) {
      tried = JSON.stringify({ start, pump, end })
      const textOf = (times: number) => start + pump.repeat((times * length) / pump.length) + end
      const quick = leastMs(expression, textOf(1), 1)
      if (quick < quickMs || leastMs(expression, textOf(1), 3) < quickMs) continue
      const grows = () => leastMs(expression, textOf(4), 3) / leastMs(expression, textOf(1), 3) > mostGrowth
      if (grows() && grows() && grows()) return tried
    }
    return undefined
  }
  try {
    return runInNewContext('find()', { find }, { timeout: hangMs }) as string | undefined
  } catch {
    return `${tried} hangs`
  }
}

test('the search finds expressions that are known to be slow, and none that is not', (t) => {
  for (const slow of [
    String.raw`/\s+$/`,
    String.raw`/^id:(?:\w+\s?)*$/`,
    String.raw`/^\d*x?\d*$/`,
    '/<!--.*?-->/',
  ])
    t.truthy(slowText(slow), slow)
  for (const quick of [
    String.raw`/^\s+/`,
    '/^(?:a|b)*$/',
    String.raw`/^[\w-]+\.[\w-]+$/`,
    String.raw`/(?<!\s)\s+$/`,
  ])
    t.is(slowText(quick), undefined, quick)
})

test('no regular expression that strangers can reach takes more time than its text is long', (t) => {
  t.timeout(300_000)
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(?:tsx?|mjs)$/.test(name),
  )
  const literals = files.flatMap((name) => literalsOf(name, readFileSync(join('src', name), 'utf8')))
  const known = new Map<string, string | undefined>()
  for (const { place, text } of literals) {
    if (!known.has(text)) known.set(text, slowText(text))
    const slow = known.get(text)
    if (shortTexts[`${place.split(':')[0]} ${text}`] === undefined) t.is(slow, undefined, `${place} ${text}`)
  }
  t.log(`${literals.length} literals`)
  t.true(literals.length > 200)
})
