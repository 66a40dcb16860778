import { html, type Markup } from '../../http/pages/html.js'
import type { Language } from '../blocks.js'

const strings = String.raw`(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])*')`
const numbers = String.raw`\b\d[\d_]*(?:\.\d+)?\b`
const words = String.raw`\b(?:import|from|const|let|await|for|of|if|else|throw|try|catch|instanceof|new|true|false|null)\b`

/** The highlighted tokens of each language. A comment wins over a string, and a string over a word. */
const tokens: Readonly<Record<Language, RegExp | undefined>> = {
  sh: new RegExp(String.raw`(?<comment>(?<=^|\s)#.*$)|(?<string>${strings})|(?<word>(?<=^|\s)curl\b)`, 'gm'),
  ts: new RegExp(
    String.raw`(?<comment>(?<=^|\s)//.*$)|(?<string>${strings})|(?<word>${words}|${numbers})`,
    'gm',
  ),
  json: new RegExp(
    String.raw`(?<name>${strings}(?=\s*:))|(?<string>${strings})|(?<word>${words}|${numbers})`,
    'gm',
  ),
  html: /(?<comment><!--[\s\S]*?-->)|(?<string>"[^"]*")|(?<word><\/?[\w-]+|>)/g,
  text: undefined,
}

/** A code sample with highlighted tokens. */
export function highlighted(language: Language, text: string): Markup[] {
  const pattern = tokens[language]
  if (pattern === undefined) return [html`${text}`]
  const parts: Markup[] = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const [kind = 'word'] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? []
    parts.push(html`${text.slice(end, match.index)}<span class="${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return [...parts, html`${text.slice(end)}`]
}
