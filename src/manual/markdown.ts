/** A cell's text must not end its cell or its row. */
const cellText = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|')

export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(rowText).join('\n')
}

export function rowText(cells: readonly string[]): string {
  return `| ${cells.map(cellText).join(' | ')} |`
}

/** `kind`: the language, and whether the sample is shown closed at first. The fence is longer than any run of backticks inside. */
export function sampleText(kind: string, title: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${kind} ${title}\n${text}\n${fence}`
}
