/** A word that differs in more than this share of the letters was not mistyped. */
const mistypedShare = 0.4
/** Letters of a word that are looked at. */
const wordMost = 40

/**
 * What to say of a word that is none of those there are: a question, with the nearest one or with all of them.
 * @param {string} word
 * @param {readonly string[]} names
 * @returns {string}
 */
export function didYouMean(word, names) {
  const [nearest = ''] = names.toSorted((a, b) => distance(word, a) - distance(word, b))
  const mistyped = distance(word, nearest) <= nearest.length * mistypedShare
  return mistyped ? `Did you mean ${nearest}?` : `Did you mean one of ${names.join(', ')}?`
}

/** How many letters have to be added, dropped or changed (Levenshtein). */
function distance(word, name) {
  const letters = [...word.slice(0, wordMost)]
  const whole = letters.reduce(
    (row, letter) => {
      const next = [row[0] + 1]
      for (let j = 1; j <= name.length; j++)
        next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (letter === name[j - 1] ? 0 : 1)))
      return next
    },
    Array.from({ length: name.length + 1 }, (_, j) => j),
  )
  return whole[name.length]
}
