import type { Context } from 'koa'
import type { Language } from '../../kernel/languages.js'
import { permissionsPolicy } from '../security/response-headers.js'
import type { Pages } from './built-pages.js'
import { escapeHtml, type Markup } from './html.js'
import { iconPath } from './icon.js'

/** The parts of a page's content security policy and permissions that differ between pages. */
interface PagePolicy {
  /** The origins that may frame the page, or `'none'` or `'self'` with quotes. */
  readonly frameAncestors: string
  /** Other origins that the page may send requests to. */
  readonly connect?: readonly string[]
  /** The page may submit forms to its own origin. */
  readonly forms?: boolean
  /** The page may frame pages of its own origin. */
  readonly frames?: boolean
  /** The page may make and use passkeys. */
  readonly passkeys?: boolean
}

/** Parts of a document that are made for each request. */
interface PageContent {
  readonly head: Markup
  /** Before and after what the script shows, and what it replaces. */
  readonly before: Markup
  readonly app: Markup
  readonly after: Markup
}

export interface PageHead {
  /** The page's folder under src/pages. */
  readonly name: string
  readonly title: string
  /** Of the page's texts. */
  readonly language?: Language
  /** Attributes data-<name> of the root element, for the page's script. */
  readonly data?: Readonly<Record<string, string>>
  readonly theme: 'dark' | 'light'
  readonly policy: PagePolicy
  /** What stands in the document before a script runs. */
  readonly content?: PageContent
  /** The page and the windows it opens keep their references to each other. */
  readonly keepsOpener?: boolean
}

/**
 * Answers with the HTML document of a built page. It has no inline script or style and may not be cached. The content
 * security policy forbids everything that the page does not need. Trusted types without a policy prevent text from
 * becoming script by mistake.
 */
export function sendPage(ctx: Context, pages: Pages, head: PageHead): void {
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Content-Security-Policy', contentPolicy(head.policy))
  ctx.set('Permissions-Policy', permissionsPolicy({ passkeys: head.policy.passkeys === true }))
  ctx.set('Cross-Origin-Opener-Policy', head.keepsOpener === true ? 'unsafe-none' : 'same-origin')
  // `frame-ancestors` replaces this header. Older browsers would apply it and refuse the site that may frame the page.
  ctx.remove('X-Frame-Options')
  ctx.type = 'text/html; charset=utf-8'
  ctx.state['compressible'] = head.content !== undefined
  ctx.body = documentOf(pages, head)
}

function contentPolicy({ frameAncestors, connect = [], forms = false, frames = false }: PagePolicy): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...connect].join(' ')}`,
    ...(frames ? ["frame-src 'self'"] : []),
    `form-action ${forms ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    `frame-ancestors ${frameAncestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

function documentOf(
  pages: Pages,
  { name, title, language = 'en', data = {}, theme, content }: PageHead,
): string {
  const { script, preloads, styles } = pages.files(name, language)
  const attributes = Object.entries({ theme, ...data }).map(
    ([key, value]) => ` data-${key}="${escapeHtml(value)}"`,
  )
  return [
    '<!doctype html>',
    `<html lang="${language}"${attributes.join('')}>`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    `<link rel="icon" href="${iconPath}" type="image/svg+xml">`,
    ...styles.map((path) => `<link rel="stylesheet" href="${path}">`),
    ...preloads.map((path) => `<link rel="modulepreload" href="${path}">`),
    `<script type="module" src="${script}"></script>`,
    content?.head.text ?? '',
    '<body>',
    content?.before.text ?? '',
    `<div id="app">${content?.app.text ?? ''}</div>`,
    content?.after.text ?? '',
    content === undefined ? '<noscript>This page needs JavaScript.</noscript>' : '',
    '</html>\n',
  ].join('\n')
}
