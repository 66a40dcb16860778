/** Words of the manual with the marks of inline Markdown: `code`, **strong**, [words](#anchor). */
export type Words = string

export type Language = 'sh' | 'json' | 'ts' | 'html' | 'text'

export interface Code {
  readonly kind: 'code'
  readonly language: Language
  readonly title: string
  readonly text: string
  /** Closed until it is asked for. */
  readonly folded?: boolean
}

/** One field of a request or an answer. */
export interface Field {
  readonly id: string
  /** As in `user.id` or `events[].sender`. */
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly rule: Words
  /** JSON of a value; undefined for a field that holds further ones. */
  readonly example: string | undefined
}

/** One way a call may be refused. */
export interface Refusal {
  /** Where it is explained; undefined: elsewhere, at `href`. */
  readonly id?: string
  readonly href: string
  readonly status: number
  readonly code: string
  /** The exact text. */
  readonly error: Words
  readonly cause: Words
  readonly remedy: Words
  readonly answeredBy?: Words
}

/** What a manual is made of; page.ts and markdown.ts write each of them. */
export type Block =
  | { readonly kind: 'text'; readonly text: Words }
  | { readonly kind: 'note'; readonly text: Words }
  | { readonly kind: 'heading'; readonly text: Words }
  | { readonly kind: 'list'; readonly items: readonly Words[]; readonly ordered: boolean }
  | { readonly kind: 'table'; readonly head: readonly Words[]; readonly rows: readonly (readonly Words[])[] }
  | { readonly kind: 'refusals'; readonly refusals: readonly Refusal[] }
  | {
      readonly kind: 'fields'
      readonly title: string
      readonly fields: readonly Field[]
      readonly asks: boolean
    }
  | Code

export interface Section {
  readonly id: string
  readonly title: string
  /** Of a call. */
  readonly call?: { readonly method: string; readonly path: string; readonly badges: readonly string[] }
  readonly blocks: readonly Block[]
  /** What stands beside it where there is room: requests and answers. */
  readonly beside: readonly Block[]
}

export interface Chapter extends Section {
  readonly sections: readonly Section[]
}

export interface Manual {
  readonly title: string
  readonly lead: Words
  /** Where the service is reached: what links and examples begin with. */
  readonly base: string
  readonly guides: readonly Chapter[]
  readonly calls: readonly Chapter[]
  readonly errors: Chapter
}

export const text = (words: Words): Block => ({ kind: 'text', text: words })
export const note = (words: Words): Block => ({ kind: 'note', text: words })
export const heading = (words: Words): Block => ({ kind: 'heading', text: words })
export const list = (...items: readonly Words[]): Block => ({ kind: 'list', items, ordered: false })
export const steps = (...items: readonly Words[]): Block => ({ kind: 'list', items, ordered: true })
export const table = (head: readonly Words[], ...rows: readonly (readonly Words[])[]): Block => ({
  kind: 'table',
  head,
  rows,
})
export function code(language: Language, title: string, ...lines: readonly string[]): Code {
  return { kind: 'code', language, title, text: lines.join('\n') }
}
export function guide(id: string, title: string, ...blocks: readonly Block[]): Chapter {
  return { id, title, blocks, beside: [], sections: [] }
}
