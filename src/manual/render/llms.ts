import type { Chapter, Manual } from '../blocks.js'

/** `/llms.txt` (llmstxt.org): links for language models. */
export function llmsText({ title, lead, base, guides, calls, errors }: Manual): string {
  const place = ({ id, title: name }: Chapter, about: string): string =>
    `- [${name}](${base}/docs#${id})${about}`
  return [
    `# ${title}`,
    '',
    `> ${lead}`,
    '',
    '## Whole texts',
    '',
    `- [Manual as Markdown](${base}/docs.md): all of it in one file`,
    `- [OpenAPI 3.1](${base}/openapi.json): every call, its fields and answers`,
    '',
    '## Guides',
    '',
    ...guides.map((chapter) => place(chapter, '')),
    '',
    '## Calls',
    '',
    ...calls.map((chapter) => place(chapter, `: ${chapter.sections.map(sectionName).join(', ')}`)),
    '',
    '## Optional',
    '',
    place(errors, ': every code with cause and remedy'),
    '',
  ].join('\n')
}

function sectionName({ call, title }: Chapter['sections'][number]): string {
  return call === undefined ? title : `${call.method} ${call.path}`
}
