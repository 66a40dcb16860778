import { escapeHtml } from '../http/pages/html.js'
import { accent, serviceName, testNotice } from '../kernel/brand.js'
import type { Language } from '../kernel/languages.js'
import { cleanLine } from '../kernel/text.js'
import type { Email } from '../ports/mail.js'

/**
 * A paragraph; a text in large letters for copying; a link, drawn as a button with its address below; facts, each with
 * its name; a list.
 */
export type EmailBlock =
  | string
  | { readonly standout: string }
  | { readonly link: string; readonly label?: string }
  | { readonly facts: readonly EmailFact[] }
  | { readonly list: readonly string[] }

export type EmailFact = readonly [name: string, value: string]

/** What an e-mail says. */
export interface EmailContent {
  /** Of the words. Default English. */
  readonly language?: Language
  readonly subject: string
  readonly blocks: readonly EmailBlock[]
}

const subjectLength = 200
const textWidth = 72
const defaultLabel = 'Open the page'

/** One line, as a row and a header take it. */
export const cleanSubject = (subject: string): string => cleanLine(subject, subjectLength)

type RenderedEmail = Pick<Email, 'subject' | 'text' | 'html'>

/**
 * Renders an e-mail as plain text and as HTML, both headed by the service's name. The HTML loads nothing, so it looks the
 * same where images and style sheets are blocked. Blocks are text, never markup: they are escaped.
 */
export function renderEmail({ language = 'en', subject, blocks }: EmailContent): RenderedEmail {
  const colon = language === 'fr' ? '\u00a0:' : ':'
  const text = blocks.map((block) => textBlock(block, colon))
  return {
    subject: cleanSubject(subject),
    text: `${[serviceName, ...text].join('\n\n')}\n`,
    html: htmlPage(language, blocks.map((block) => htmlBlock(block, colon)).join('\n')),
  }
}

/** The same e-mail, which says that it is of a test deployment. */
export function testEmail({ subject, text, html }: RenderedEmail): RenderedEmail {
  return {
    subject: cleanSubject(`[Test] ${subject}`),
    text: `${testNotice}\n\n${text}`,
    html: html.replace('<body>', `<body><p><mark>${testNotice}</mark></p>`),
  }
}

function textBlock(block: EmailBlock, colon: string): string {
  if (typeof block === 'string') return wrapLines(block)
  if ('link' in block) return `${block.label ?? defaultLabel}${colon}\n${block.link}`
  if ('facts' in block)
    return block.facts.map(([name, value]) => wrapLines(`${name}${colon} ${value}`)).join('\n')
  if ('list' in block) return block.list.map((item) => wrapLines(`- ${item}`)).join('\n')
  return `    ${block.standout}`
}

/** Where a line may end: not within an amount, nor between a French mark and its word. */
const breaks = /(?<!«)[^\S\u00a0\u202f]+(?![:;?!»])/

/** Wraps at 72 characters, because plain-text mail clients do not wrap. A longer word stays on one line. */
function wrapLines(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(breaks)) {
    if (line !== '' && line.length + 1 + word.length > textWidth) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

// Words have the client's own colours, so they are readable on its dark ground too. Where we set a ground, we set its words.
const onAccent = `background:${accent.light};color:#ffffff`
const styles = {
  page: 'font:16px/1.5 sans-serif;max-width:32em;margin:0 auto;padding:16px;overflow-wrap:anywhere',
  brand: `display:inline-block;padding:2px 10px;border-radius:6px;font-weight:bold;font-size:18px;${onAccent}`,
  button: `display:inline-block;padding:12px 20px;border-radius:8px;font-weight:bold;text-decoration:none;${onAccent}`,
  address: 'font-size:13px',
  standout: 'font:bold 28px monospace;letter-spacing:4px',
} as const

function htmlBlock(block: EmailBlock, colon: string): string {
  if (typeof block === 'string') return `<p>${escapeHtml(block)}</p>`
  if ('link' in block) return htmlLink(escapeHtml(block.link), escapeHtml(block.label ?? defaultLabel))
  if ('facts' in block) return `<p>${block.facts.map((fact) => htmlFact(fact, colon)).join('<br>\n')}</p>`
  if ('list' in block) return `<p>${block.list.map((item) => `- ${escapeHtml(item)}`).join('<br>\n')}</p>`
  return `<p style="${styles.standout}">${escapeHtml(block.standout)}</p>`
}

/** The address is written out too: a reader sees where the button leads, and can copy it. */
function htmlLink(address: string, label: string): string {
  return `<p><a href="${address}" style="${styles.button}">${label}</a></p>
<p style="${styles.address}">${address}</p>`
}

function htmlFact([name, value]: EmailFact, colon: string): string {
  return `<b>${escapeHtml(name)}${colon}</b> ${escapeHtml(value)}`
}

function htmlPage(language: Language, body: string): string {
  const head =
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
  const heading = `<p style="${styles.brand}">${serviceName}</p>`
  return `<!DOCTYPE html>\n<html lang="${language}"><head>${head}</head><body><div style="${styles.page}">\n${heading}\n${body}\n</div></body></html>\n`
}

const longest = 100
/** Mail programs offer such digits as a one-time code. */
const codeLike = /\p{Nd}{6,}/gu
const digitsKept = 3
/** A mail program makes a link of it, and the mail would vouch for it. */
const address = /(?<!\S)\S*:\/\/\S*/g

/** `evil.example/pay` and `me@evil.example` become links too. */
const domainLike = /(?<!\S)\S+\.\p{L}{2,}\S*/gu

/** A text that others have chosen, as a mail of ours may contain it: one line, cut, without links and without what looks like a code. */
export function quoteInMail(text: string): string {
  return quoteLine(cleanLine(text).replace(address, '(link)').replace(domainLike, '(link)'))
}

/**
 * A site or an e-mail address that others have chosen: `shop[.]example`. Its owner must read which one it is, so the words stay.
 * The brackets keep every mail program from making a link, in plain text too, where no markup can; people know the form.
 */
export function quoteDomainInMail(text: string): string {
  return quoteLine(cleanLine(text).replace(address, '(link)').replaceAll('.', '[.]'))
}

function quoteLine(line: string): string {
  const safe = line.replace(codeLike, (digits) => `${digits.slice(0, digitsKept)}...`)
  const cut = cleanLine(safe, longest)
  return cut === safe ? safe : `${cut}...`
}
