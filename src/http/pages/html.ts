/** Text that is HTML already. Only `html` makes it, so whatever else reaches a page is escaped. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | readonly Markup[] | undefined

const special: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}
/** Characters no document may hold: they end in nothing good, and some parsers stop at them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu

/** Text as it may stand between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(forbidden, '\ufffd').replace(/[&<>"'`]/g, (character) => special[character] ?? '')
}

/**
 * A piece of HTML: what is written in the template is taken as it is, every value is escaped, except what `html` has
 * made. Values belong between tags and into quoted attributes, never into a tag's name, a script or a style.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return new Markup(parts.reduce((text, part, index) => `${text}${written(values[index - 1])}${part}`))
}

function written(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escapeHtml(String(part))
}
