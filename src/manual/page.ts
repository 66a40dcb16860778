import { Marked, type RendererObject, type Tokens } from 'marked'
import { escapeHtml, html, Markup, scriptTag } from '../http/pages/html.js'
import { iconPath } from '../http/pages/icon.js'
import { serviceName } from '../kernel/brand.js'
import type { Manual } from './manual.js'
import type { Chapter, Section } from './texts.js'

/** The paths of the page's stylesheet and of its script with the scripts that it imports. */
interface ManualFiles {
  readonly style: string
  readonly script: string
  readonly preloads: readonly string[]
}

/** The manual as an HTML page. Without its script it lacks only the copy buttons and the search. */
export function manualPage(manual: Manual, { style, script, preloads }: ManualFiles): string {
  const chapters = [...manual.guides, ...manual.calls, manual.errors]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="How to take tips in crypto and naira with this service: guides, every call, every error.">
<title>${manual.title}</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="/docs.md">
<link rel="stylesheet" href="${style}">
${preloads.map((path) => html`<link rel="modulepreload" href="${path}">`)}
${scriptTag(script, 'type="module"')}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><img src="${iconPath}" alt="" width="28" height="28">${serviceName}</a>
<nav aria-label="Formats"><a href="/docs.md">Markdown</a><a href="/openapi.json">OpenAPI</a></nav>
</header>
<div class="frame">
<nav class="contents" aria-label="Contents">${[contents('Guides', manual.guides), contents('Calls', manual.calls), contents('Errors', [manual.errors])]}</nav>
<main id="content">
<section class="intro"><h1>${manual.title}</h1><p class="lead">${manual.lead}</p></section>
${chapters.map(chapterPart)}</main>
</div>
</body>
</html>
`.text
}

function contents(title: string, chapters: readonly Chapter[]): Markup {
  const entries = chapters.map(({ id, title: name, sections }) => {
    const inside = sections.map(
      (section) => html`<li><a href="#${section.id}">${titlePart(section)}</a></li>`,
    )
    return html`<li><a href="#${id}">${name}</a>${inside.length === 0 ? undefined : html`<ul>${inside}</ul>`}</li>`
  })
  return html`<p>${title}</p><ul>${entries}</ul>`
}

/** A call has a badge for its method; its path may break after each slash. */
function titlePart({ title }: Section): Markup {
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(title) ?? []
  if (method === undefined || path === undefined) return html`${title}`
  const parts = path.split(/(?<=\/)/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))
  return html`<b class="method ${method.toLowerCase()}">${method}</b><code>${parts}</code>`
}

function chapterPart(chapter: Chapter): Markup {
  const sections = chapter.sections.map(
    (section) =>
      html`<article id="${section.id}">${columns(html`<h3><a href="#${section.id}">${titlePart(section)}</a></h3>`, section)}</article>\n`,
  )
  return html`<section class="chapter" id="${chapter.id}" aria-labelledby="${chapter.id}-title">
${columns(html`<h2 id="${chapter.id}-title"><a href="#${chapter.id}">${chapter.title}</a></h2>`, chapter)}
${sections}</section>
`
}

/** On wide screens the samples are in a column of their own. */
function columns(title: Markup, { id, body }: Section): Markup {
  const marked = new Marked({ renderer: rendererOf(id) })
  const tokens = marked.lexer(body)
  const part = (isSample: boolean): Markup =>
    new Markup(marked.parser(tokens.filter(({ type }) => (type === 'code') === isSample)))
  const samples = tokens.some(({ type }) => type === 'code')
  return html`<div class="columns"><div class="words">${title}${part(false)}</div>${samples ? html`<div class="samples">${part(true)}</div>` : undefined}</div>`
}

/** Whatever a text holds, none of it becomes markup but that of Markdown: values of settings and of the OpenAPI document stay text. */
function rendererOf(section: string): RendererObject {
  return {
    heading({ tokens, depth }) {
      return `<h${depth} class="sub">${this.parser.parseInline(tokens)}</h${depth}>`
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens)
      return /^(#|\/|https?:\/\/)/.test(href) ? `<a href="${escapeHtml(href)}">${words}</a>` : words
    },
    table({ header, rows }) {
      const [heads, ...lines] = [header, ...rows].map((cells) =>
        cells.map(({ tokens }) => new Markup(this.parser.parseInline(tokens))),
      )
      return tablePart(section, header, heads ?? [], rows, lines).text
    },
    text(token) {
      return 'tokens' in token && token.tokens
        ? this.parser.parseInline(token.tokens)
        : escapeHtml(token.text)
    },
    code: (token) => codePart(token).text,
    codespan: ({ text }) => html`<code>${text}</code>`.text,
    html: ({ text }) => escapeHtml(text),
    image: ({ raw }) => escapeHtml(raw),
  }
}

function tablePart(
  section: string,
  header: readonly Tokens.TableCell[],
  heads: readonly Markup[],
  rows: readonly (readonly Tokens.TableCell[])[],
  lines: readonly (readonly Markup[])[],
): Markup {
  // A row that is shown as a block has its column's title at each cell.
  const titles = header.map(({ text }) => text.replaceAll('`', ''))
  const body = lines.map((cells, index) => {
    const place = placeOf(section, titles, rows[index] ?? [])
    const shown = cells.map((cell, column) => {
      const linked = column === place?.column ? html`<a href="#${place.id}">${cell}</a>` : cell
      return html`<td data-title="${titles[column] ?? ''}">${linked}</td>`
    })
    return place?.isHere ? html`<tr id="${place.id}">${shown}</tr>` : html`<tr>${shown}</tr>`
  })
  const head = heads.map((title) => html`<th scope="col">${title}</th>`)
  const table = html`<thead><tr>${head}</tr></thead><tbody>${body}</tbody>`
  return /^(Field|Status)$/.test(titles[0] ?? '')
    ? html`<table class="fields">${table}</table>`
    : html`<div class="scroll" tabindex="0" role="group" aria-label="${titles.join(', ')}"><table>${table}</table></div>`
}

/** The anchor of a field of a call, or of an error, and the column that links to it. Errors are anchored in their chapter. */
function placeOf(section: string, titles: readonly string[], cells: readonly Tokens.TableCell[]) {
  const name = (column: number): string => (cells[column]?.text ?? '').replaceAll(/`|\[\]/g, '')
  if (titles[0] === 'Status')
    return { id: `error-${name(2)}`, column: 2, isHere: titles.at(-1) === 'Answered by' }
  if (titles.at(-1) !== 'Example') return undefined
  const way = titles.includes('Required') ? '' : 'answer.'
  return { id: `${section}.${way}${name(0)}`, column: 0, isHere: true }
}

/** `lang`: as `sampleText` writes it. */
function codePart({ lang = '', text }: Tokens.Code): Markup {
  const [, language = 'text', folded, title = ''] = /^(\w+)( folded)? (.*)$/.exec(lang) ?? []
  // Focusable, so that keyboard users can scroll a wide sample.
  const body = html`<pre tabindex="0" role="group" aria-label="${title}"><code class="${language}">${highlighted(language, text)}</code></pre>`
  return folded === undefined
    ? html`<div class="code"><p>${title}</p>${body}</div>`
    : html`<details class="code"><summary>${title}</summary>${body}</details>`
}

const strings = String.raw`(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])*')`
const numbers = String.raw`\b\d[\d_]*(?:\.\d+)?\b`
const words = String.raw`\b(?:import|from|const|let|await|for|of|if|else|throw|try|catch|instanceof|new|true|false|null)\b`

/** The highlighted tokens of each language. A comment wins over a string, and a string over a word. */
const highlights: Readonly<Record<string, RegExp>> = {
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
}

/** Languages that are highlighted as another one. */
const likeness: Readonly<Record<string, string>> = { js: 'ts', php: 'ts', python: 'sh' }

function highlighted(language: string, text: string): Markup[] {
  const parts: Markup[] = []
  let end = 0
  for (const match of text.matchAll(highlights[likeness[language] ?? language] ?? /$^/g)) {
    const [kind = 'word'] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? []
    parts.push(html`${text.slice(end, match.index)}<span class="${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return [...parts, html`${text.slice(end)}`]
}
