import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import { serviceName } from '../../kernel/brand.js'
import type { Language } from '../../kernel/languages.js'
import { html, Markup } from './html.js'
import { iconPath } from './icon.js'
import { languageLinks } from './language.js'
import { palette } from './palette.js'

/** In the document itself, so that the page needs no second request. */
const style = `${palette}
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; overflow-wrap: anywhere; background: var(--ground); color: var(--text); font: 1rem/1.6 ui-sans-serif, system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 38rem; margin: 0 auto; padding: clamp(1.5rem, 10vh, 6rem) 1rem 3rem; }
.brand { display: inline-flex; align-items: center; gap: .6rem; min-height: 2.75rem; margin-bottom: 1rem; font-size: 1.125rem; font-weight: 750; color: inherit; text-decoration: none; }
.card { padding: clamp(1.25rem, 5vw, 2rem); background: var(--sheet); border: 1px solid var(--line); border-radius: 18px; }
h1 { margin: 0 0 .75rem; font-size: clamp(1.5rem, 6vw, 2rem); line-height: 1.2; letter-spacing: -.02em; text-wrap: balance; }
p { margin: 0; color: var(--muted); text-wrap: pretty; }
p + p { margin-top: .75rem; }
blockquote { margin: 1.25rem 0 0; padding: .25rem 0 .25rem 1rem; border-left: 3px solid var(--accent); }
dl { display: grid; grid-template-columns: minmax(6rem, auto) 1fr; gap: .35rem 1rem; margin: 1.25rem 0 0; }
dt { color: var(--muted); }
dd { margin: 0; }
ul { display: flex; flex-wrap: wrap; min-width: 0; gap: .75rem; list-style: none; margin: 1.5rem 0 0; padding: 0; }
li a { display: inline-flex; align-items: center; min-height: 3rem; max-width: 100%; padding: 0 1.1rem; border: 1px solid var(--line); border-radius: 12px; color: var(--accent); font-weight: 600; text-decoration: none; }
li:first-child a { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button { min-height: 3rem; margin-top: 1.5rem; padding: 0 1.1rem; border: 0; border-radius: 12px; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
form + form button { margin-top: .75rem; border: 1px solid var(--line); background: none; color: var(--accent); }
li a:hover { text-decoration: underline; }
a:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 12px; }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 1rem .25rem 0; font-size: .93rem; }
nav > * { display: inline-flex; align-items: center; min-height: 2.75rem; }
nav a { color: var(--accent); }
.card + p { margin: 1.25rem .25rem 0; font-size: .93rem; }
`
/**
 * Keeps a page up to date while it is open. Loading it again would take away where a reader is. In-app browsers of banks may not run it:
 * there the page stays as it was loaded.
 */
const updating = /* js */ `{
  const main = document.querySelector('main')
  const wait = () => Number(main.dataset.seconds) > 0 && setTimeout(update, main.dataset.seconds * 1000)
  const update = async () => {
    const answer = await fetch(location.href).catch(() => undefined)
    if (answer?.ok) {
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const now = next.querySelector('main')
      main.dataset.seconds = now.dataset.seconds ?? '0'
      if (now.textContent !== main.textContent) {
        document.title = next.title
        main.replaceChildren(...now.childNodes)
      }
    }
    wait()
  }
  wait()
}`
const updatingTag = `<script>${updating}</script>`
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const policyWith = (script: string): string =>
  `default-src 'none'; style-src ${hashOf(style)}; ${script}img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
const policy = policyWith('')
const updatingPolicy = policyWith(`script-src ${hashOf(updating)}; connect-src 'self'; `)

/** A page of a few words, which needs no script. A form sends nothing elsewhere. */
export interface PlainPage {
  /** Of a page that there is in every language: links lead to the others. Undefined: there is only the English one. */
  readonly language?: Language
  readonly title: string
  readonly lead: string
  /** Further paragraphs. */
  readonly more?: readonly string[]
  /** The words of somebody else. */
  readonly quote?: string | undefined
  readonly facts?: readonly (readonly [name: string, value: string])[]
  /** The first one stands out. */
  readonly links?: readonly { readonly href: string; readonly text: string }[]
  /** Each posts to `to`, or to the page's own address. The first one stands out. */
  readonly buttons?: readonly { readonly text: string; readonly to?: string }[]
  /** Shown below the rest. */
  readonly note?: string | undefined
  /** For whoever has the link: search engines do not list it. While it is open it is read again every `refreshSeconds`. */
  readonly unlisted?: { readonly refreshSeconds: number | undefined }
}

/** Renders the page's document. */
export function plainPage(page: PlainPage): string {
  const {
    language,
    title,
    lead,
    more = [],
    quote,
    facts = [],
    links = [],
    buttons = [],
    note,
    unlisted,
  } = page
  const entries = links.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`)
  const rows = facts.map(([name, value]) => html`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>`)
  const forms = buttons.map(
    ({ text, to }) => html`<form method="post"${to && html` action="${to}"`}><button>${text}</button></form>`,
  )
  const refresh = unlisted?.refreshSeconds
  return html`<!doctype html>
<html lang="${language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${serviceName}</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
${unlisted && html`<meta name="robots" content="noindex">`}
<style>${new Markup(style)}</style>
</head>
<body>
${refresh === undefined ? html`<main>` : html`<main aria-live="polite" data-seconds="${refresh}">`}
<a class="brand" href="/"><img src="${iconPath}" alt="" width="28" height="28">${serviceName}</a>
<div class="card"><h1>${title}</h1><p>${lead}</p>${more.map((text) => html`<p>${text}</p>`)}${quote && html`<blockquote><bdi>${quote}</bdi></blockquote>`}${rows.length === 0 ? undefined : html`<dl>${rows}</dl>`}${links.length === 0 ? undefined : html`<ul>${entries}</ul>`}${forms}</div>
${note === undefined ? undefined : html`<p>${note}</p>`}
${language === undefined ? undefined : html`<nav>${languageLinks(language)}</nav>`}
</main>
${refresh && new Markup(updatingTag)}
</body>
</html>
`.text
}

/** Answers with a document of `plainPage`. */
export function sendPlainPage(ctx: Context, document: string, status = 200): void {
  ctx.status = status
  ctx.set('Content-Security-Policy', document.includes(updatingTag) ? updatingPolicy : policy)
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = document
}
