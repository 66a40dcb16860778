import type { Context } from 'koa'
import {
  acceptedLanguage,
  type Language,
  languageNames,
  languageOf,
  languages,
} from '../../kernel/languages.js'
import { html, type Markup } from './html.js'

const cookie = 'lang'
const yearMs = 365 * 24 * 3_600_000

/**
 * The language of a page for supporters: what the visitor chose, now (`?lang=`) or before, else what was chosen for it, by the creator
 * or, of a payment, by its payer, else the browser's. A choice is remembered in a cookie that says nothing about the visitor.
 */
export function chooseLanguage(ctx: Context, ofPage?: Language | null): Language {
  const asked = languageOf(String(ctx.query['lang'] ?? ''))
  if (asked !== undefined)
    ctx.cookies.set(cookie, asked, { maxAge: yearMs, sameSite: 'lax', httpOnly: true, secure: ctx.secure })
  return (
    asked ??
    languageOf(ctx.cookies.get(cookie)) ??
    ofPage ??
    acceptedLanguage(ctx.get('Accept-Language')) ??
    'en'
  )
}

/** The languages by their own names. The others than this one are links to the same page. */
export function languageLinks(shown: Language): Markup[] {
  return languages.map((language) =>
    language === shown
      ? html`<span lang="${language}" aria-current="true">${languageNames[language]}</span>`
      : html`<a lang="${language}" href="?lang=${language}">${languageNames[language]}</a>`,
  )
}
