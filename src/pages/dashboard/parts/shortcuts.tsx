import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { go, type Screen } from '../route.js'

const afterG: Readonly<Record<string, Screen>> = {
  h: 'home',
  t: 'tips',
  w: 'withdraw',
  o: 'overlay',
  d: 'developers',
  s: 'settings',
}
/** How long after `g` the second letter counts. */
const secondMs = 1500
/** Carried by the field that `/` leads to. */
export const searchFieldId = 'search'

/** Letters that do something wherever nothing is being typed. */
export function useShortcuts(onHelp: () => void): void {
  useEffect(() => {
    let pressedGAt = Number.NEGATIVE_INFINITY
    const take = (event: KeyboardEvent): void => {
      if (isMeantElsewhere(event)) return
      const second = event.timeStamp - pressedGAt < secondMs ? afterG[event.key] : undefined
      pressedGAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
      const act = second === undefined ? actOf(event.key, onHelp) : () => go(second)
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', take)
    return () => document.removeEventListener('keydown', take)
  }, [onHelp])
}

function actOf(key: string, onHelp: () => void): (() => void) | undefined {
  if (key === '?') return onHelp
  if (key === 'w') return () => go('withdraw')
  if (key === '/') return searchTips
  return undefined
}

function searchTips(): void {
  const field = document.getElementById(searchFieldId)
  if (field !== null) field.focus()
  else {
    go('tips')
    requestAnimationFrame(() => document.getElementById(searchFieldId)?.focus())
  }
}

function isMeantElsewhere({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey || isTyping(target) || isAsked()
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]')
}

function isAsked(): boolean {
  return document.querySelector('dialog[open]') !== null
}

export function ShortcutsHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog title={words.shortcuts.title} onClose={onClose}>
      <dl class="keys">
        {words.shortcuts.list.map(([keys, meaning]) => (
          <div key={keys} class="keys__line">
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <Button onPress={onClose}>{words.close}</Button>
    </Dialog>
  )
}
