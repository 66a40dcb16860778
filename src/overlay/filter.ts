/** Signs that stand in for letters. A `!` after a word ends it. */
const lookalikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

/** Text as words in one form, without case and accents, and blanks at both ends: as it is, and with the letters that signs stand in for. */
function plainWords(text: string): readonly [asItIs: string, disguised: string] {
  const letters = text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
  const words = (one: string): string => ` ${one.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()} `
  return [
    words(letters),
    words(letters.replace(/[013457@$]|!(?=[\p{L}\p{N}])/gu, (sign) => lookalikes[sign] ?? sign)),
  ]
}

/** Says whether a text has a word or a phrase of these. Made once for many texts. */
export function filterOf(entries: readonly string[]): (text: string) => boolean {
  const looked = entries.flatMap((entry) => {
    const [words] = plainWords(entry)
    if (words.trim() === '') return []
    return entry.trim().endsWith('*') ? words.trimEnd() : words
  })
  return (text) => {
    if (looked.length === 0) return false
    const searched = plainWords(text)
    return looked.some((words) => searched.some((one) => one.includes(words)))
  }
}
