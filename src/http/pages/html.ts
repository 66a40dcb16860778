/** A piece of HTML. Only `html` creates it; all other values are escaped. */
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
/** Characters that HTML does not allow. Some parsers stop at them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this expression removes control characters
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]|\p{Surrogate}/gu

/** Escapes text for use between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(forbidden, '\ufffd').replace(/[&<>"'`]/g, (character) => special[character] ?? '')
}

/**
 * A template tag for HTML. The template's own text stays as it is; every value is escaped, except `Markup`. Use values
 * between tags and in quoted attributes only, never in a tag's name, a script or a style.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return new Markup(parts.reduce((text, part, index) => `${text}${partText(values[index - 1])}${part}`))
}

function partText(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escapeHtml(String(part))
}

/** A plain string: the build rewrites a template tag whose text closes a script, and adds a package for it. */
export function scriptTag(address: string, how: 'defer' | 'type="module"'): Markup {
  return new Markup(`<script ${how} src="${escapeHtml(address)}"></script>`)
}
