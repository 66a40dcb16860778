/** The code samples of a language in a Markdown text, in order. */
export function fencesOf(markdown: string, language: string): string[] {
  const fence = /^(`{3,})(\w*)\n([\s\S]*?)\n\1$/gm
  return [...markdown.matchAll(fence)].flatMap(([, , name, text = '']) => (name === language ? [text] : []))
}

/** A chapter of the manual, from its Markdown. */
export function chapterText(markdown: string, title: string): string {
  return new RegExp(`^## ${title}\\n([\\s\\S]*?)^## `, 'm').exec(markdown)?.[1] ?? ''
}

export type Json = Readonly<Record<string, unknown>>

/** Replaces placeholders such as `<user.id>` with values of earlier answers, the newest answer first. */
export function filled(text: string, answers: readonly Json[]): string {
  return text.replace(/<([a-zA-Z]+(?:\.[a-zA-Z]+)*)>/g, (_, path: string) => {
    const found = answers.map((answer) => valueAt(answer, path)).find((value) => typeof value === 'string')
    if (found === undefined) throw new Error(`no answer has ${path}`)
    return String(found)
  })
}

function valueAt(answer: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], answer)
}
