import { words } from '../i18n/manual.js'
import { copyText } from '../lib/browser.js'
import { addFilling } from './fill.js'
import { addSearch, element } from './search.js'

const shownMs = 2000

const header = document.querySelector('.top')
if (header !== null) {
  addSearch(header)
  addFilling(header)
}
addCopyButtons()

function addCopyButtons(): void {
  const said = element('p', { class: 'visually-hidden', role: 'status' })
  document.body.append(said)
  for (const sample of document.querySelectorAll('.code > pre')) sample.after(copyButton(sample, said))
}

function copyButton(sample: Element, said: HTMLElement): HTMLElement {
  const label = words.copyWhat(sample.getAttribute('aria-label') ?? '')
  const button = element('button', { type: 'button', class: 'copy', 'aria-label': label }, words.copy)
  let timer: ReturnType<typeof setTimeout>
  const show = (copied: boolean): void => {
    const word = copied ? words.copied : words.copyFailed
    button.textContent = word
    said.textContent = word
    clearTimeout(timer)
    timer = setTimeout(() => {
      button.textContent = words.copy
      said.textContent = ''
    }, shownMs)
  }
  button.addEventListener('click', () => void copyText(sample.textContent ?? '').then(show))
  return button
}
