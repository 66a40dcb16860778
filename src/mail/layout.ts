import { escapeHtml } from '../http/pages/html.js'
import { cleanLine } from '../kernel/text.js'
import type { MailContent } from './queue-email.js'

/** A paragraph of text, or something to be copied that stands out. */
type Block = string | { readonly standout: string }

export interface EmailText {
  readonly subject: string
  readonly blocks: readonly Block[]
}

const subjectLength = 200
const textWidth = 72

/**
 * The two forms of a letter: text for plain mail clients, and HTML with nothing to load, so that it reads the same
 * where pictures and style sheets are blocked. Whatever the blocks hold is text, never markup.
 */
export function emailLayout({ subject, blocks }: EmailText): MailContent {
  return {
    subject: cleanLine(subject, subjectLength),
    text: `${blocks.map(plain).join('\n\n')}\n`,
    html: page(blocks.map(paragraph).join('\n')),
  }
}

function plain(block: Block): string {
  return typeof block === 'string' ? wrapped(block) : `    ${block.standout}`
}

/** Lines of at most 72 characters where words allow it: plain mail clients do not wrap. */
function wrapped(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > textWidth) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

function paragraph(block: Block): string {
  if (typeof block === 'string') return `<p>${escapeHtml(block)}</p>`
  return `<p style="font:bold 28px monospace;letter-spacing:4px">${escapeHtml(block.standout)}</p>`
}

function page(body: string): string {
  const style = 'font:16px/1.5 sans-serif;max-width:32em'
  return `<!DOCTYPE html>\n<html lang="en"><body><div style="${style}">\n${body}\n</div></body></html>\n`
}
