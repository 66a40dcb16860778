import type { InlineMarkdown } from '../blocks.js'

/** A piece of inline Markdown with one mark. */
export type Span =
  | { readonly mark: 'plain' | 'code' | 'strong'; readonly text: string }
  | { readonly mark: 'link'; readonly text: string; readonly href: string }

/** `code`, **strong**, [text](href). A link starts with `#`, `/`, `http://` or `https://`; other schemes are not links. */
const marks = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:#|\/|https?:\/\/)[^\s()]*)\)/g

/** Splits inline Markdown into spans. An incomplete mark stays text. */
export function spansOf(words: InlineMarkdown): Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of words.matchAll(marks)) {
    if (match.index > end) spans.push({ mark: 'plain', text: words.slice(end, match.index) })
    spans.push(spanOf(match))
    end = match.index + match[0].length
  }
  if (end < words.length) spans.push({ mark: 'plain', text: words.slice(end) })
  return spans
}

function spanOf([, code, strong, text = '', href = '']: readonly (string | undefined)[]): Span {
  if (code !== undefined) return { mark: 'code', text: code }
  if (strong !== undefined) return { mark: 'strong', text: strong }
  return { mark: 'link', text, href }
}
