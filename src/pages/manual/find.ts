/** A place of the manual that a search can find. */
export interface Place {
  readonly id: string
  readonly title: string
  /** The titles above it. */
  readonly within: string
  readonly text: string
}

/** The places that contain every word of the query: those with the words in their titles first, then in the manual's order. */
export function findPlaces(places: readonly Place[], query: string): Place[] {
  const wanted = wordsOf(query)
  if (wanted.length === 0) return []
  return places
    .map((place) => ({ place, rank: rankOf(place, wanted) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0))
    .map(({ place }) => place)
}

/** 0 is best; undefined: a word is missing. */
function rankOf({ title, within, text }: Place, wanted: readonly string[]): number | undefined {
  const name = title.toLowerCase()
  const all = `${name} ${within} ${text}`.toLowerCase()
  if (!wanted.every((word) => all.includes(word))) return undefined
  if (name === wanted.join(' ')) return 0
  if (wanted.every((word) => name.includes(word))) return name.startsWith(wanted[0] ?? '') ? 1 : 2
  return wanted.some((word) => name.includes(word)) ? 3 : 4
}

const snippetLength = 140

/** The part of a place's text around the first word of the query. */
export function snippetOf({ text }: Place, query: string): string {
  const lower = text.toLowerCase()
  const found = wordsOf(query).map((word) => lower.indexOf(word))
  const first = Math.min(...found.filter((at) => at >= 0), text.length)
  const start = first > snippetLength / 2 && first < text.length ? text.lastIndexOf(' ', first - 30) + 1 : 0
  const end = start + snippetLength
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}

function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}
