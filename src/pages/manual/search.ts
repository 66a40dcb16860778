import { words } from '../i18n/manual.js'

const mostShown = 30
const ownText = '.words > p, .words > blockquote, .words > :is(ul, ol) > li, .scroll td, .samples pre'

/** Makes an element with a class, text and attributes. Text stays text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  text = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}

/** Adds a search button to the page's header, and the dialog that it opens. Ctrl+K or Cmd+K opens it too. */
export function addSearch(header: Element): void {
  const input = element('input', { type: 'search', 'aria-label': words.searchManual, autocomplete: 'off' })
  const close = element('button', { type: 'button' }, words.close)
  const form = element('form', { role: 'search' })
  form.append(input, close)
  const count = element('p', { role: 'status' })
  const list = element('ul')
  const dialog = element('dialog', { class: 'search', 'aria-label': words.searchManual })
  dialog.append(form, count, list)
  document.body.append(dialog)

  let places: readonly Place[] | undefined
  const show = (): void => {
    places ??= readPlaces()
    const query = input.value.trim()
    const found = findPlaces(places, query)
    count.textContent = query === '' ? '' : words.found(found.length, mostShown)
    list.replaceChildren(...found.slice(0, mostShown).map((place) => entryOf(place, query)))
  }
  const open = (): void => {
    if (!dialog.open) dialog.showModal()
    input.select()
  }
  input.addEventListener('input', show)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    // A click on the dialog itself, not on its contents, is a click on the ground around it.
    if (link !== null || event.target === dialog) dialog.close()
    if (link === null) return
    event.preventDefault()
    goTo(link.hash)
  })
  dialog.addEventListener('keydown', (event) => {
    // In some browsers Escape would only clear the field.
    if (event.key === 'Escape') dialog.close()
    else moveFocus(event, [input, ...list.querySelectorAll('a')])
  })
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    open()
  })
  const button = element('button', { type: 'button', class: 'open-search' }, words.search)
  button.addEventListener('click', open)
  header.querySelector('nav')?.before(button)
}

function entryOf(place: Place, query: string): HTMLElement {
  const link = element('a', { href: `#${place.id}` })
  const title = element('b', {}, place.title)
  const snippet = snippetOf(place, query)
  link.append(title, element('span', {}, [place.within, snippet].filter(Boolean).join(' · ')))
  const entry = element('li')
  entry.append(link)
  return entry
}

/** Also moves the focus, so that the keyboard and screen readers go on there. */
function goTo(hash: string): void {
  location.hash = hash
  const place = document.getElementById(decodeURIComponent(hash.slice(1)))
  place?.setAttribute('tabindex', '-1')
  place?.focus({ preventScroll: true })
  place?.scrollIntoView()
}

function moveFocus(event: KeyboardEvent, targets: readonly HTMLElement[]): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const { activeElement } = document
  const next =
    activeElement instanceof HTMLElement ? targets[targets.indexOf(activeElement) + step] : undefined
  if (step === 0 || next === undefined) return
  event.preventDefault()
  next.focus()
}

/** Reads the places from the page itself: its chapters, sections, fields and errors. */
function readPlaces(): Place[] {
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

/** A place of the manual that a search can find. */
interface Place {
  readonly id: string
  readonly title: string
  /** The titles above it. */
  readonly within: string
  readonly text: string
}

/** The places that contain every word of the query: those with the words in their titles first, then in the manual's order. */
function findPlaces(places: readonly Place[], query: string): Place[] {
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
function snippetOf({ text }: Place, query: string): string {
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
