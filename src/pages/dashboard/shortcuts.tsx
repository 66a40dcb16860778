import { useEffect } from 'preact/hooks'
import { words } from '../i18n/dashboard.js'
import { Button } from '../ui/kit.js'
import { Dialog } from './parts/forms.js'
import { go, type Screen } from './route.js'

const afterG: Readonly<Record<string, Screen>> = {
  h: 'home',
  t: 'tips',
  w: 'withdraw',
  k: 'take-out',
  o: 'overlay',
  d: 'developers',
  c: 'security',
  s: 'settings',
}
/** The second letter must follow `g` within this time. */
const secondMs = 1500
export const searchFieldId = 'search'

/** Keyboard shortcuts, active while no text field has the focus and no dialog is open. */
export function useShortcuts(onHelp: () => void): void {
  useEffect(() => {
    let pressedGAt = Number.NEGATIVE_INFINITY
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isNotShortcut(event)) return
      const second = event.timeStamp - pressedGAt < secondMs ? afterG[event.key] : undefined
      pressedGAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY
      const act = second === undefined ? actionOf(event.key, onHelp) : () => go(second)
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [onHelp])
}

function actionOf(key: string, onHelp: () => void): (() => void) | undefined {
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

function isNotShortcut({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  const isTyping =
    target instanceof HTMLElement && target.matches('input, select, textarea, [contenteditable]')
  return ctrlKey || metaKey || altKey || isTyping || document.querySelector('dialog[open]') !== null
}

const shortcuts: readonly (readonly [keys: string, meaning: string])[] = [
  ['?', words.shortcuts.help],
  ...Object.entries(afterG).map(([key, screen]) => [`g ${key}`, words.screens[screen]] as const),
  ['w', words.screens.withdraw],
  ['/', words.shortcuts.search],
]

export function ShortcutsHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={words.shortcuts.title} onClose={onClose}>
      <dl class="keys">
        {shortcuts.map(([keys, meaning]) => (
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
      <Button text={words.close} onPress={onClose} />
    </Dialog>
  )
}
