import { escapeHtml } from '../http/pages/html.js'
import { accent, serviceName } from '../kernel/brand.js'
import { cleanLine } from '../kernel/text.js'
import type { EmailContent } from './queue-email.js'

/** A paragraph of text, a text shown in large letters for copying, or the address of a link. */
type Block = string | { readonly standout: string } | { readonly link: string }

export interface EmailBlocks {
  readonly subject: string
  readonly blocks: readonly Block[]
}

const subjectLength = 200
const textWidth = 72

/**
 * Renders an e-mail as plain text and as HTML, both headed by the service's name. The HTML loads nothing, so it looks the
 * same where images and style sheets are blocked. Blocks are text, never markup: they are escaped.
 */
export function emailLayout({ subject, blocks }: EmailBlocks): EmailContent {
  return {
    subject: cleanLine(subject, subjectLength),
    text: `${[serviceName, ...blocks.map(textBlock)].join('\n\n')}\n`,
    html: htmlPage(blocks.map(htmlBlock).join('\n')),
  }
}

function textBlock(block: Block): string {
  if (typeof block === 'string') return wrapLines(block)
  return 'link' in block ? block.link : `    ${block.standout}`
}

/** Wraps at 72 characters, because plain-text mail clients do not wrap. A longer word stays on one line. */
function wrapLines(text: string): string {
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

function htmlBlock(block: Block): string {
  if (typeof block === 'string') return `<p>${escapeHtml(block)}</p>`
  if ('link' in block) return `<p><a href="${escapeHtml(block.link)}">${escapeHtml(block.link)}</a></p>`
  return `<p style="font:bold 28px monospace;letter-spacing:4px">${escapeHtml(block.standout)}</p>`
}

function htmlPage(body: string): string {
  const style = 'font:16px/1.5 sans-serif;max-width:32em;overflow-wrap:anywhere'
  const heading = `<p style="font-weight:bold;font-size:18px;color:${accent.light}">${serviceName}</p>`
  return `<!DOCTYPE html>\n<html lang="en"><body><div style="${style}">\n${heading}\n${body}\n</div></body></html>\n`
}
