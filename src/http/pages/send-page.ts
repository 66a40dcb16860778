import type { Context } from 'koa'
import type { Pages } from './built-pages.js'
import { escapeHtml } from './html.js'

/** What a page may do besides showing itself. */
interface PagePolicy {
  /** Who may frame it: origins, or `'none'` or `'self'` in their quotes. */
  readonly frameAncestors: string
  /** Origins it may ask besides its own. */
  readonly connect?: readonly string[]
  /** It submits forms to its own origin. */
  readonly forms?: boolean
  /** It frames pages of its own origin. */
  readonly frames?: boolean
}

export interface PageHead {
  /** The folder under src/pages it is made from. */
  readonly name: string
  readonly title: string
  /** Attributes of the root element, for the page's script to read: data-<name>. */
  readonly data?: Readonly<Record<string, string>>
  readonly theme: 'dark' | 'light'
  readonly policy: PagePolicy
  /** A page whose window may keep a hold of the window that opened it. */
  readonly keepsOpener?: boolean
}

/**
 * Answers with the document of a built page: no inline script or style, nothing that a cache may keep. What it may do is
 * the policy and nothing else; text never becomes script, also by mistake (trusted types without any policy).
 */
export function sendPage(ctx: Context, pages: Pages, head: PageHead): void {
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Content-Security-Policy', contentPolicy(head.policy))
  ctx.set('Cross-Origin-Opener-Policy', head.keepsOpener === true ? 'unsafe-none' : 'same-origin')
  // Browsers that know frame-ancestors ignore it, older ones would refuse the very site that may frame us.
  ctx.remove('X-Frame-Options')
  ctx.type = 'text/html; charset=utf-8'
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

function documentOf(pages: Pages, { name, title, data = {}, theme }: PageHead): string {
  const { script, preloads, styles } = pages.files(name)
  const attributes = Object.entries({ theme, ...data }).map(
    ([key, value]) => ` data-${key}="${escapeHtml(value)}"`,
  )
  return [
    '<!doctype html>',
    `<html lang="en"${attributes.join('')}>`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    '<link rel="icon" href="/pay-icon.svg" type="image/svg+xml">',
    ...styles.map((path) => `<link rel="stylesheet" href="${path}">`),
    ...preloads.map((path) => `<link rel="modulepreload" href="${path}">`),
    `<script type="module" src="${script}"></script>`,
    '<div id="app"></div>',
    '<noscript>This page needs JavaScript.</noscript>',
    '</html>\n',
  ].join('\n')
}
