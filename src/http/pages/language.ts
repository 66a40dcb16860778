import type { Context } from 'koa'
import { acceptedLanguage, type Language, languageOf } from '../../kernel/languages.js'

const cookie = 'lang'
const yearMs = 365 * 24 * 3_600_000

/**
 * The language of a page for supporters: what the visitor chose, now (`?lang=`) or before, else what the creator chose, else the
 * browser's. A choice is remembered in a cookie that says nothing about the visitor.
 */
export function chooseLanguage(ctx: Context, ofCreator?: Language | null): Language {
  const asked = languageOf(String(ctx.query['lang'] ?? ''))
  if (asked !== undefined)
    ctx.cookies.set(cookie, asked, { maxAge: yearMs, sameSite: 'lax', httpOnly: true, secure: ctx.secure })
  return (
    asked ??
    languageOf(ctx.cookies.get(cookie)) ??
    ofCreator ??
    acceptedLanguage(ctx.get('Accept-Language')) ??
    'en'
  )
}
