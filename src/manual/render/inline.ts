import type { Words } from '../blocks.js'

/** A stretch of words with one mark. */
export type Span =
  | { readonly mark: 'plain' | 'code' | 'strong'; readonly text: string }
  | { readonly mark: 'link'; readonly text: string; readonly href: string }

/** `code`, **strong**, [words](href). A link may lead to a place of ours or to a web page, nowhere else. */
const marks = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:#|\/|https?:\/\/)[^\s()]*)\)/g

/** Cuts words at their marks. What looks like a mark and is none stays text. */
export function spansOf(words: Words): Span[] {
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
