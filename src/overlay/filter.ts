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

/** Whether a text has a word or a phrase of the filter. */
export function hasFiltered(filter: readonly string[], text: string): boolean {
  if (filter.length === 0) return false
  const searched = plainWords(text)
  return filter.some((entry) => {
    const [words] = plainWords(entry)
    if (words.trim() === '') return false
    const looked = entry.trim().endsWith('*') ? words.trimEnd() : words
    return searched.some((one) => one.includes(looked))
  })
}
