/** A word that differs in a larger share of its letters is not a typing error. */
const mistypedShare = 0.4
/** Letters of a word that are compared. */
const maxLetters = 40

/**
 * A question for an unknown word: names the nearest known name, or all of them when none is near.
 * @param {string} word
 * @param {readonly string[]} names
 * @returns {string}
 */
export function didYouMean(word, names) {
  const [nearest = ''] = names.toSorted((a, b) => distance(word, a) - distance(word, b))
  const mistyped = distance(word, nearest) <= nearest.length * mistypedShare
  return mistyped ? `Did you mean ${nearest}?` : `Did you mean one of ${names.join(', ')}?`
}

/** How many letters must be added, removed or changed (Levenshtein). */
function distance(word, name) {
  const letters = [...word.slice(0, maxLetters)]
  const lastRow = letters.reduce(
    (row, letter) => {
      const next = [row[0] + 1]
      for (let j = 1; j <= name.length; j++)
        next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (letter === name[j - 1] ? 0 : 1)))
      return next
    },
    Array.from({ length: name.length + 1 }, (_, j) => j),
  )
  return lastRow[name.length]
}
