import { readFileSync, writeFileSync } from 'node:fs'

/** With --write writes a document that is made from code. Without it fails when the document is not current. */
export function keepDocument(document: string, text: string): void {
  if (process.argv.includes('--write')) writeFileSync(document, text)
  else if (readFileSync(document, 'utf8') !== text) {
    process.stderr.write(`${document} is not current. Run: npm run check -- --fix\n`)
    process.exitCode = 1
  }
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const separator = head.map(() => '---')
  return [head, separator, ...rows].map((cells) => `|${cells.join('|')}|`).join('\n')
}
