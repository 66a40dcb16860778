/** The code samples of a language in a Markdown text, in order. */
export function fencesOf(markdown: string, language: string): string[] {
  const fence = /^(`{3,})(\w*)\n([\s\S]*?)\n\1$/gm
  return [...markdown.matchAll(fence)].flatMap(([, , name, text = '']) => (name === language ? [text] : []))
}
