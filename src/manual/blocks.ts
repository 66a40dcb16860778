/** Text of the manual with inline marks: `code`, **strong**, [text](#anchor). */
export type InlineMarkdown = string

export type Language = 'sh' | 'json' | 'ts' | 'html' | 'text'

export interface Code {
  readonly kind: 'code'
  readonly language: Language
  readonly title: string
  readonly text: string
  /** Shown closed at first. */
  readonly folded?: boolean
}

/** One field of a request or an answer. */
export interface Field {
  readonly id: string
  /** Such as `user.id` or `events[].sender`. */
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly rule: InlineMarkdown
  /** JSON of an example value; undefined for an object. */
  readonly example: string | undefined
}

/** One error that a call may answer. */
export interface Refusal {
  /** Its anchor in the chapter of errors. Undefined where it is only listed: `href` links to the anchor. */
  readonly id?: string
  readonly href: string
  readonly status: number
  readonly code: string
  /** The exact text of the answer's `error`. */
  readonly error: InlineMarkdown
  readonly cause: InlineMarkdown
  readonly remedy: InlineMarkdown
  readonly answeredBy?: InlineMarkdown
}

/** A part of a section. Each renderer handles every kind. */
export type Block =
  | { readonly kind: 'text'; readonly text: InlineMarkdown }
  | { readonly kind: 'note'; readonly text: InlineMarkdown }
  | { readonly kind: 'heading'; readonly text: InlineMarkdown }
  | { readonly kind: 'list'; readonly items: readonly InlineMarkdown[]; readonly ordered: boolean }
  | {
      readonly kind: 'table'
      readonly head: readonly InlineMarkdown[]
      readonly rows: readonly (readonly InlineMarkdown[])[]
    }
  | { readonly kind: 'refusals'; readonly refusals: readonly Refusal[] }
  | {
      readonly kind: 'fields'
      readonly title: string
      readonly fields: readonly Field[]
      readonly isRequest: boolean
    }
  | Code

export interface Section {
  readonly id: string
  readonly title: string
  /** Set when the section describes a call of the API. */
  readonly call?: { readonly method: string; readonly path: string; readonly badges: readonly string[] }
  readonly blocks: readonly Block[]
  /** Sample requests and answers; on wide screens in a column of their own. */
  readonly samples: readonly Block[]
}

export interface Chapter extends Section {
  readonly sections: readonly Section[]
}

export interface Manual {
  readonly title: string
  readonly lead: InlineMarkdown
  /** The service's address; links and examples begin with it. */
  readonly base: string
  readonly guides: readonly Chapter[]
  readonly calls: readonly Chapter[]
  readonly errors: Chapter
}

export const text = (words: InlineMarkdown): Block => ({ kind: 'text', text: words })
export const note = (words: InlineMarkdown): Block => ({ kind: 'note', text: words })
export const heading = (words: InlineMarkdown): Block => ({ kind: 'heading', text: words })
export const list = (...items: readonly InlineMarkdown[]): Block => ({ kind: 'list', items, ordered: false })
export const steps = (...items: readonly InlineMarkdown[]): Block => ({ kind: 'list', items, ordered: true })
export const table = (
  head: readonly InlineMarkdown[],
  ...rows: readonly (readonly InlineMarkdown[])[]
): Block => ({
  kind: 'table',
  head,
  rows,
})
export function code(language: Language, title: string, ...lines: readonly string[]): Code {
  return { kind: 'code', language, title, text: lines.join('\n') }
}
export function guide(id: string, title: string, ...blocks: readonly Block[]): Chapter {
  return { id, title, blocks, samples: [], sections: [] }
}
