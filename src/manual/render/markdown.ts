import type { Block, Chapter, Field, Manual, Refusal, Section } from '../blocks.js'
import { spansOf } from './inline.js'

/** The manual as Markdown (CommonMark with tables), with absolute links. */
export function manualMarkdown(manual: Manual): string {
  const chapters = [...manual.guides, ...manual.calls, manual.errors]
  return `${[
    `# ${manual.title}`,
    words(manual.lead, manual.base),
    ...chapters.flatMap((chapter) => chapterLines(chapter, manual.base)),
  ].join('\n\n')}\n`
}

function chapterLines(chapter: Chapter, base: string): string[] {
  return [
    `## ${chapter.title}`,
    ...blocksOf(chapter, base),
    ...chapter.sections.flatMap((section) => [titleOf(section), ...blocksOf(section, base)]),
  ]
}

function titleOf({ title, call }: Section): string {
  if (call === undefined) return `### ${title}`
  const { method, path, badges } = call
  return `### ${method} ${path}\n\n${title}. Credential: ${badges.join(' or ')}.`
}

function blocksOf({ blocks, samples }: Section, base: string): string[] {
  return [...blocks, ...samples].map((block) => blockText(block, base))
}

function blockText(block: Block, base: string): string {
  switch (block.kind) {
    case 'text':
      return words(block.text, base)
    case 'note':
      return `> ${words(block.text, base)}`
    case 'heading':
      return `**${words(block.text, base)}**`
    case 'list':
      return block.items
        .map((item, index) => `${block.ordered ? `${index + 1}.` : '-'} ${words(item, base)}`)
        .join('\n')
    case 'table':
      return tableText(block.head, block.rows, base)
    case 'refusals':
      return refusalsText(block.refusals, base)
    case 'fields':
      return fieldsText(block.title, block.fields, block.isRequest, base)
    case 'code':
      return codeText(block.title, block.language, block.text)
  }
}

/** The fence is longer than any run of backticks inside. */
function codeText(title: string, language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${title}:\n\n${fence}${language}\n${text}\n${fence}`
}

function fieldsText(title: string, fields: readonly Field[], isRequest: boolean, base: string): string {
  const head = ['Field', 'Type', ...(isRequest ? ['Required'] : []), 'Rule', 'Example']
  const rows = fields.map(({ name, type, required, rule, example }) => [
    `\`${name}\``,
    type,
    ...(isRequest ? [required ? 'yes' : 'no'] : []),
    rule,
    example === undefined ? '' : `\`${example}\``,
  ])
  return `**${title}**\n\n${tableText(head, rows, base)}`
}

function refusalsText(refusals: readonly Refusal[], base: string): string {
  const named = refusals.some(({ answeredBy }) => answeredBy !== undefined)
  const head = [
    'Status',
    '`error`, exactly',
    '`code`',
    'Cause',
    'What to do',
    ...(named ? ['Answered by'] : []),
  ]
  const rows = refusals.map(({ status, error, code, cause, remedy, answeredBy }) => [
    String(status),
    error,
    `\`${code}\``,
    cause,
    remedy,
    ...(answeredBy === undefined ? [] : [answeredBy]),
  ])
  return tableText(head, rows, base)
}

function tableText(head: readonly string[], rows: readonly (readonly string[])[], base: string): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => words(cell, base).replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Our marks are Markdown already; other Markdown characters are escaped. */
function words(text: string, base: string): string {
  return spansOf(text)
    .map((span) => {
      if (span.mark === 'code') return `\`${span.text}\``
      if (span.mark === 'strong') return `**${plain(span.text)}**`
      if (span.mark === 'link') return `[${plain(span.text)}](${absolute(span.href, base)})`
      return plain(span.text)
    })
    .join('')
}

function plain(text: string): string {
  return text.replace(/[\\*_`[\]<>]/g, '\\$&').replace(/\s+/g, ' ')
}

function absolute(href: string, base: string): string {
  if (href.startsWith('#')) return `${base}/docs${href}`
  return href.startsWith('/') ? `${base}${href}` : href
}
