import { html, type Markup, scriptTag } from '../../http/pages/html.js'
import { iconPath } from '../../http/pages/icon.js'
import { serviceName } from '../../kernel/brand.js'
import type { Block, Chapter, Code, Field, Manual, Refusal, Section } from '../blocks.js'
import { highlighted } from './highlight.js'
import { spansOf } from './inline.js'

/** The paths of the page's stylesheet and of its script with the scripts that it imports. */
export interface ManualFiles {
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
<nav class="contents" aria-label="Contents">${[...contents('Guides', manual.guides), ...contents('Calls', manual.calls), ...contents('Errors', [manual.errors])]}</nav>
<main id="content">
<section class="intro"><h1>${manual.title}</h1><p class="lead">${words(manual.lead)}</p></section>
${chapters.map(chapterPart)}</main>
</div>
</body>
</html>
`.text
}

function contents(title: string, chapters: readonly Chapter[]): Markup[] {
  const entries = chapters.map(
    ({ id, title: name, sections }) =>
      html`<li><a href="#${id}">${name}</a>${sections.length === 0 ? undefined : html`<ul>${sections.map(entry)}</ul>`}</li>`,
  )
  return [html`<p>${title}</p><ul>${entries}</ul>`]
}

function entry({ id, title, call }: Section): Markup {
  if (call === undefined) return html`<li><a href="#${id}">${title}</a></li>`
  return html`<li><a href="#${id}">${methodPart(call.method)}<span>${breakable(call.path)}</span></a></li>`
}

function chapterPart(chapter: Chapter): Markup {
  return html`<section class="chapter" id="${chapter.id}" aria-labelledby="${chapter.id}-title">
${columns(html`<h2 id="${chapter.id}-title"><a href="#${chapter.id}">${chapter.title}</a></h2>`, chapter, 3)}
${chapter.sections.map(sectionPart)}</section>
`
}

function sectionPart(section: Section): Markup {
  return html`<article id="${section.id}">${columns(html`<h3><a href="#${section.id}">${section.title}</a></h3>${callLine(section)}`, section, 4)}</article>
`
}

function callLine({ call }: Section): Markup | undefined {
  if (call === undefined) return undefined
  const badges = call.badges.map((badge) => html`<span class="badge">${badge}</span>`)
  return html`<p class="call">${methodPart(call.method)}<code>${breakable(call.path)}</code>${badges}</p>`
}

function methodPart(method: string): Markup {
  return html`<b class="method ${method.toLowerCase()}">${method}</b>`
}

/** Allows a line break after each slash of a path. */
function breakable(path: string): Markup[] {
  return path.split(/(?<=\/)/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))
}

/** `level`: the level of the headings inside. */
function columns(title: Markup, { blocks, samples }: Section, level: 3 | 4): Markup {
  const part = (block: Block): Markup => blockPart(block, level)
  const column = samples.length === 0 ? undefined : html`<div class="samples">${samples.map(part)}</div>`
  return html`<div class="columns"><div class="words">${title}${blocks.map(part)}</div>${column}</div>`
}

function blockPart(block: Block, level: 3 | 4): Markup {
  switch (block.kind) {
    case 'text':
      return html`<p>${words(block.text)}</p>`
    case 'note':
      return html`<p class="note">${words(block.text)}</p>`
    case 'heading':
      return subheading(words(block.text), level)
    case 'list':
      return listPart(block.items, block.ordered)
    case 'table':
      return tablePart(block.head, block.rows)
    case 'fields':
      return html`${subheading(words(block.title), level)}<ul class="fields">${block.fields.map((field) => fieldPart(field, block.isRequest))}</ul>`
    case 'refusals':
      return html`<ul class="fields">${block.refusals.map(refusalPart)}</ul>`
    case 'code':
      return codePart(block)
  }
}

function subheading(title: readonly Markup[], level: 3 | 4): Markup {
  return level === 3 ? html`<h3 class="sub">${title}</h3>` : html`<h4 class="sub">${title}</h4>`
}

function listPart(items: readonly string[], ordered: boolean): Markup {
  const entries = items.map((item) => html`<li>${words(item)}</li>`)
  return ordered ? html`<ol>${entries}</ol>` : html`<ul>${entries}</ul>`
}

function tablePart(head: readonly string[], rows: readonly (readonly string[])[]): Markup {
  const titles = head.map((title) => html`<th scope="col">${words(title)}</th>`)
  const lines = rows.map((cells) => {
    // On a narrow screen a row becomes a block, and each cell shows its column's title.
    const title = (index: number): string => (head[index] ?? '').replaceAll('`', '')
    return html`<tr>${cells.map((cell, index) => html`<td data-title="${title(index)}">${words(cell)}</td>`)}</tr>`
  })
  const label = head.join(', ').replaceAll('`', '')
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table><thead><tr>${titles}</tr></thead><tbody>${lines}</tbody></table></div>`
}

function fieldPart({ id, name, type, required, rule, example }: Field, isRequest: boolean): Markup {
  const need = required ? html`<em class="required">required</em>` : html`<em>optional</em>`
  const sample =
    example === undefined ? undefined : html` <span class="example">Example <code>${example}</code></span>`
  return html`<li id="${id}"><p><a class="field" href="#${id}"><code>${name}</code></a> <span class="type">${type}</span> ${isRequest ? need : undefined}</p><p>${words(rule)}${sample}</p></li>`
}

function refusalPart({ id, href, status, code, error, cause, remedy, answeredBy }: Refusal): Markup {
  const by = answeredBy === undefined ? undefined : html`<p class="by">Answered by ${words(answeredBy)}.</p>`
  const parts = html`<p><b class="status">${status}</b> <span class="exact">${words(error)}</span> <a href="${href}">${code}</a></p><p><span class="cause">${words(cause)}</span> ${words(remedy)}</p>${by}`
  return id === undefined ? html`<li>${parts}</li>` : html`<li id="${id}">${parts}</li>`
}

function codePart({ language, title, text, folded }: Code): Markup {
  // Focusable, so that keyboard users can scroll a wide sample.
  const body = html`<pre tabindex="0" role="group" aria-label="${title}"><code class="${language}">${highlighted(language, text)}</code></pre>`
  if (folded === true) return html`<details class="code"><summary>${title}</summary>${body}</details>`
  return html`<div class="code"><p>${title}</p>${body}</div>`
}

function words(text: string): Markup[] {
  return spansOf(text).map((span) => {
    if (span.mark === 'code') return html`<code>${span.text}</code>`
    if (span.mark === 'strong') return html`<strong>${span.text}</strong>`
    if (span.mark === 'link') return html`<a href="${span.href}">${span.text}</a>`
    return html`${span.text}`
  })
}
