import { words } from '../i18n/manual.js'
import { element } from './element.js'
import { findPlaces, type Place, snippetOf } from './find.js'
import { readPlaces } from './places.js'

const mostShown = 30

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
