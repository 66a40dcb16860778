import type { Place } from './find.js'

const ownText =
  '.words > p:not(.call), .words > ul:not(.fields) > li, .words > ol > li, .words > table td, .samples pre'

/** Reads the places from the page itself: its chapters, sections, fields and errors. */
export function readPlaces(): Place[] {
  return [...document.querySelectorAll('main .chapter, main article, main .fields > li[id]')].map(placeOf)
}

function placeOf(part: Element): Place {
  if (part.matches('li')) return listedPlace(part)
  const columns = part.querySelector(':scope > .columns')
  return {
    id: part.id,
    title: titleOf(part),
    within: part.matches('article')
      ? [titleOf(part.closest('.chapter')), callOf(part)].filter(Boolean).join(' · ')
      : '',
    text: joined(columns?.querySelectorAll(ownText) ?? []),
  }
}

/** A field of a call, or an error. */
function listedPlace(item: Element): Place {
  const section = item.closest('article') ?? item.closest('.chapter')
  const name = item.querySelector('.field, .status ~ a')
  return {
    id: item.id,
    title: textOf(name),
    within: callOf(section) || titleOf(section),
    text: joined([...item.querySelectorAll('p')].filter((line) => !line.querySelector('.field'))),
  }
}

/** Such as `POST /payouts/withdraw`; empty where no call is described. */
function callOf(section: Element | null): string {
  return [...(section?.querySelectorAll('.call > .method, .call > code') ?? [])].map(textOf).join(' ')
}

function titleOf(part: Element | null): string {
  return textOf(part?.querySelector('h2, h3') ?? null)
}

function joined(parts: Iterable<Element>): string {
  return [...parts].map(textOf).join(' ')
}

function textOf(part: Element | null): string {
  return (part?.textContent ?? '').replace(/\s+/g, ' ').trim()
}
