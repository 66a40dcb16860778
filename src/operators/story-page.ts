import { html, type Markup } from '../http/pages/html.js'
import { opsCommand } from './open-cases.js'
import { command, type Frame, operatorsFrame } from './page.js'
import type { Story, StoryLine, Subject } from './trace/story.js'

/** The path of the look-up, whose parameter `q` is what to find. It leads to the page of what it finds. */
export const findPath = '/ops/find'

/** The path of a page by the kind of what it shows. Its parameter `before` is the time that begins an older page. */
export const subjectPaths: Readonly<Record<Subject['kind'], string>> = {
  tip: '/ops/tips',
  withdrawal: '/ops/withdrawals',
  intent: '/ops/intents',
  creator: '/ops/creators',
}

/** The page of a subject. */
export function pathOf({ kind, id }: Subject): string {
  return `${subjectPaths[kind]}/${encodeURIComponent(id)}`
}

/** The page of one tip, withdrawal, intent or creator. `story` is undefined when nothing has that name. */
export function storyPage(
  text: string,
  story: Story | undefined,
  { isOlder, ...frame }: Frame & { readonly isOlder: boolean },
): string {
  const content = story === undefined ? unknown(text) : told(story, isOlder)
  return operatorsFrame(text, content, { ...frame, text })
}

function unknown(text: string): Markup {
  return html`<h1>Nothing here is called <code>${text}</code></h1>
<p>Look for a signature, an id, a reference, a wallet, a request, or the e-mail, handle or domain of a creator.</p>`
}

function told(story: Story, isOlder: boolean): Markup {
  const { kind, id, facts, lines, older, commands } = story
  const linked = new Set(lines.flatMap(({ of }) => of?.id ?? []))
  const related = story.related.filter((one) => !linked.has(one.id))
  return html`<h1>${kind} <code>${id}</code></h1>
${facts.map((fact) => html`<p>${fact}</p>`)}
<h2>What a person could do now</h2>
<p>Copy a command and run it in a terminal. Without <code>--apply</code> it changes nothing.</p>
${commands.map((words) => html`<p class="scroll" tabindex="0">${command(opsCommand(words))}</p>`)}
<h2>What happened</h2>
<ol class="story">${lines.map((line) => html`<li><time class="number">${line.at.toISOString()}</time> ${lineText(line)}</li>`)}</ol>
${older === null && !isOlder ? undefined : html`<p>${pageLinks(story, isOlder)}</p>`}
${
  related.length === 0
    ? undefined
    : html`<h2>See also</h2><ul>${related.map(
        (one) => html`<li>${one.kind} <a href="${pathOf(one)}"><code>${one.id}</code></a></li>`,
      )}</ul>`
}
`
}

function lineText({ text, of }: StoryLine): Markup {
  return of === undefined ? html`<span>${text}</span>` : html`<a href="${pathOf(of)}">${text}</a>`
}

function pageLinks(story: Story, isOlder: boolean): Markup[] {
  const { older } = story
  return [
    ...(older === null ? [] : [html`<a href="${pathOf(story)}?before=${older.toISOString()}">Earlier</a> `]),
    ...(isOlder ? [html`<a href="${pathOf(story)}">Newest</a>`] : []),
  ]
}
