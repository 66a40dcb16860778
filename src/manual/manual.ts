import { serviceName } from '../kernel/brand.js'
import { tokens } from '../kernel/tokens.js'
import { chapterOfErrors, chaptersOfCalls, type Installation } from './calls.js'
import { rowText } from './markdown.js'
import { callsOf, type OpenApi } from './read-openapi.js'
import { type Chapter, chapterOf, readText } from './texts.js'

export interface Manual {
  readonly title: string
  readonly lead: string
  /** The service's address; links and examples begin with it. */
  readonly base: string
  readonly guides: readonly Chapter[]
  readonly calls: readonly Chapter[]
  readonly errors: Chapter
}

const guides = [
  'quickstart',
  'basics',
  'embed',
  'wallets',
  'tokens',
  'naira',
  'receipts',
  'webhooks',
  'events',
  'overlay',
  'recipes',
  'going-live',
  'local-testing',
]
const usualStandIns = 'http://localhost:8899'

/** The stand-ins that this installation uses, else those of a local stack with the usual ports. */
export function standInsOf(providerUrl: string): string {
  const { hostname, port } = new URL(providerUrl)
  return hostname === '127.0.0.1' || hostname === 'localhost' ? `http://localhost:${port}` : usualStandIns
}

/** Builds an installation's manual from the texts and its OpenAPI document. */
export function manualOf(document: OpenApi, installation: Installation): Manual {
  const { base, standIns } = installation
  const calls = callsOf(document)
  const values: Readonly<Record<string, string>> = {
    base,
    standIns,
    tokens: tokens
      .map(({ symbol, mint, decimals }) => rowText([symbol, `\`${mint}\``, String(decimals)]))
      .join('\n'),
  }
  const filled = <Part extends { readonly body: string }>(part: Part): Part => ({
    ...part,
    body: part.body.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? ''),
  })
  const whole = (chapter: Chapter): Chapter => ({
    ...filled(chapter),
    sections: chapter.sections.map(filled),
  })
  return {
    title: `${serviceName}: manual`,
    lead: 'Supporters tip in crypto or naira; creators watch tips arrive live and withdraw to a Nigerian bank. This manual has everything a site needs to take tips: guides, every call with its fields and refusals, and what to do about each refusal.',
    base,
    guides: guides.map((name) => whole(chapterOf(readText(`guides/${name}`)))),
    calls: chaptersOfCalls(calls, installation).map(whole),
    errors: whole(chapterOfErrors(calls)),
  }
}

/** The manual as one text (CommonMark with tables), with absolute links. */
export function manualMarkdown({ title, lead, base, ...chapters }: Manual): string {
  const parts = [...chapters.guides, ...chapters.calls, chapters.errors].flatMap((chapter) => [
    `## ${chapter.title}\n\n${chapter.body}`,
    ...chapter.sections.map((section) => `### ${section.title}\n\n${section.body}`),
  ])
  return `${[`# ${title}`, lead, ...parts].join('\n\n')}\n`
    .replaceAll(/^(`{3,})(\w+)(?: folded)? (.+)$/gm, '$3:\n\n$1$2')
    .replaceAll('](#', `](${base}/docs#`)
    .replaceAll('](/', `](${base}/`)
}

/** `/llms.txt` (llmstxt.org): links for language models. */
export function llmsText({ title, lead, base, guides, calls, errors }: Manual): string {
  const place = ({ id, title: name }: Chapter, about = ''): string =>
    `- [${name}](${base}/docs#${id})${about}`
  const titlesOf = ({ sections }: Chapter): string => sections.map((section) => section.title).join(', ')
  return `# ${title}

> ${lead}

## Whole texts

- [Manual as Markdown](${base}/docs.md): all of it in one file
- [OpenAPI 3.1](${base}/openapi.json): every call, its fields and answers

## Guides

${guides.map((chapter) => place(chapter)).join('\n')}

## Calls

${calls.map((chapter) => place(chapter, `: ${titlesOf(chapter)}`)).join('\n')}

## Optional

${place(errors, ': every code with cause and remedy')}
`
}
