import { readFileSync } from 'node:fs'
import { lexer, type Tokens } from 'marked'

/** A part of the manual in Markdown, under its title. */
export interface Section {
  readonly id: string
  readonly title: string
  readonly body: string
}

export interface Chapter extends Section {
  readonly sections: readonly Section[]
}

/** What calls.md says about a call beyond its schemas. */
interface CallText {
  /** What a generated client calls the function. */
  readonly operationId: string
  readonly notes: readonly string[]
  /** Causes that differ for this call, by error code. */
  readonly causes: ReadonlyMap<string, string>
  /** The call with the typed client, where that covers it. */
  readonly sample: string | undefined
}

/** A chapter of calls: also a tag of the OpenAPI document. */
interface CallsChapter extends Section {
  /** By method and path, such as `get /auth/me`. */
  readonly calls: ReadonlyMap<string, CallText>
}

/** A field's meaning beyond its schema, and a realistic example. */
export interface FieldNote {
  readonly note?: string
  readonly example?: unknown
  /** Left out of the example body, because it does not fit the other fields there. */
  readonly omit?: boolean
}

/** A file of text/. The build copies them beside the compiled code. */
export function readText(name: string): string {
  return readFileSync(new URL(`text/${name}.md`, import.meta.url), 'utf8')
}

/** A chapter from its text: what has an anchor, such as `### Next steps {#next}`, is a section of it. */
export function chapterOf(text: string): Chapter {
  const [, ...parts] = text.split(/^#{2,3} (.+) \{#([\w-]+)\}\n/m)
  const [chapter, ...sections] = parts.flatMap((title, index) =>
    index % 3 === 0 ? [{ title, id: parts[index + 1] ?? '', body: (parts[index + 2] ?? '').trim() }] : [],
  )
  if (chapter === undefined) throw new Error('a text of the manual has no chapter')
  return { ...chapter, sections }
}

/** In the order in which a new reader needs them. */
export const callsChapters: readonly CallsChapter[] = readText('calls')
  .split(/^(?=## )/m)
  .map((text) => {
    const [chapter = '', ...calls] = text.split(/^### /m)
    return { ...chapterOf(chapter), calls: new Map(calls.map(callText)) }
  })
export const callTexts: ReadonlyMap<string, CallText> = new Map(
  callsChapters.flatMap(({ calls }) => [...calls]),
)

/** A call is headed by its method, its path and its operation id. A list says causes, a block of code is the sample. */
function callText(text: string): [key: string, CallText] {
  const [, key = '', operationId = '', body = ''] = /^(\w+ \S+): (\w+)\n([\s\S]*)$/.exec(text) ?? []
  const tokens = lexer(body)
  const causes = [...body.matchAll(/^- `(\w+)`: (.+)$/gm)]
  return [
    key,
    {
      operationId,
      notes: tokens.flatMap(({ type, raw }) => (type === 'paragraph' ? [raw.trim()] : [])),
      causes: new Map(causes.map(([, code = '', cause = '']) => [code, cause])),
      sample: tokens.find((token): token is Tokens.Code => token.type === 'code')?.text,
    },
  ]
}

export const fieldNotes: ReadonlyMap<string, FieldNote> = readFields()

function readFields(): Map<string, FieldNote> {
  const notes = new Map<string, FieldNote>()
  const tables = lexer(readText('fields')).filter((token): token is Tokens.Table => token.type === 'table')
  for (const cells of tables.flatMap(({ rows }) => rows)) {
    const [names = '', note = '', example = '', inSample = ''] = cells.map(({ text }) => text)
    for (const [, name = ''] of names.matchAll(/`([^`]+)`/g)) {
      if (notes.has(name)) throw new Error(`fields.md names ${name} twice`)
      notes.set(name, {
        ...(note === '' ? {} : { note }),
        ...(example === '' ? {} : { example: JSON.parse(example.slice(1, -1)) }),
        ...(inSample === '' ? {} : { omit: inSample === 'no' }),
      })
    }
  }
  return notes
}
