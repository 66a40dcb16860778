import type { Place } from './find.js'

const ownText = '.words > p, .words > blockquote, .words > :is(ul, ol) > li, .scroll td, .samples pre'

/** Reads the places from the page itself: its chapters, sections, fields and errors. */
export function readPlaces(): Place[] {
  return [...document.querySelectorAll('main .chapter, main article, main tr[id]')].map(placeOf)
}

function placeOf(part: Element): Place {
  if (part.matches('tr')) return rowPlace(part)
  const columns = part.querySelector(':scope > .columns')
  return {
    id: part.id,
    title: titleOf(part),
    within: part.matches('article') ? titleOf(part.closest('.chapter')) : '',
    text: joined(columns?.querySelectorAll(ownText) ?? []),
  }
}

/** A field of a call, or an error. */
function rowPlace(row: Element): Place {
  const name = row.querySelector('[data-title="Field"], [data-title="code"]')
  return {
    id: row.id,
    title: textOf(name),
    within: titleOf(row.closest('article') ?? row.closest('.chapter')),
    text: joined([...row.children].filter((cell) => cell !== name)),
  }
}

/** Of a call such as `POST /payouts/withdraw`. */
function titleOf(part: Element | null): string {
  const title = part?.querySelector('h2 > a, h3 > a') ?? null
  return title?.querySelector('.method') ? joined(title.children) : textOf(title)
}

function joined(parts: Iterable<Element>): string {
  return [...parts].map(textOf).join(' ')
}

function textOf(part: Element | null): string {
  return (part?.textContent ?? '').replace(/\s+/g, ' ').trim()
}
