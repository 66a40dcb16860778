import { html, type Markup } from '../http/pages/html.js'
import { opsCommand } from './open-cases.js'
import { command, type Frame, operatorsFrame } from './page.js'
import type { Story } from './trace/story.js'

/** The path of the look-up, whose parameter `q` is what to find. */
export const findPath = '/ops/find'

/** The page of one tip, withdrawal, intent or creator. `story` is undefined when nothing has that name. */
export function storyPage(text: string, story: Story | undefined, frame: Frame): string {
  return operatorsFrame(text, story === undefined ? unknown(text) : told(story), { ...frame, text })
}

function unknown(text: string): Markup {
  return html`<h1>Nothing here is called <code>${text}</code></h1>
<p>Look for a signature, an id, a reference, a wallet, or the e-mail, handle or domain of a creator.</p>`
}

function told({ kind, id, facts, lines, related, commands }: Story): Markup {
  return html`<h1>${kind} <code>${id}</code></h1>
${facts.map((fact) => html`<p>${fact}</p>`)}
<h2>What happened</h2>
<div class="scroll" tabindex="0" role="group" aria-label="What happened"><table><tbody>${lines.map(
    ({ at, text }) => html`<tr><th scope="row" class="number">${at.toISOString()}</th><td>${text}</td></tr>`,
  )}</tbody></table></div>
${
  related.length === 0
    ? undefined
    : html`<h2>See also</h2><ul>${related.map(
        (one) =>
          html`<li>${one.kind} <a href="${findPath}?q=${encodeURIComponent(one.id)}"><code>${one.id}</code></a></li>`,
      )}</ul>`
}
<h2>Commands</h2>
${commands.map((words) => html`<p>${command(opsCommand(words))}</p>`)}`
}
