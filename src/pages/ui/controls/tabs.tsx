import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'

interface Tab<Key extends string> {
  readonly key: Key
  readonly label: JSX.Element | string
}

/**
 * The ARIA tabs pattern: one Tab stop, arrow keys move and choose. The caller renders the panel with `role="tabpanel"`, the
 * id `panel-<key>` and `aria-labelledby="tab-<key>"`.
 */
export function Tabs<Key extends string>({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  readonly label: string
  readonly tabs: readonly Tab<Key>[]
  readonly chosen: Key
  readonly onChoose: (key: Key) => void
}): JSX.Element {
  const list = useRef<HTMLDivElement>(null)
  const move = (step: number): void => {
    const at = tabs.findIndex(({ key }) => key === chosen)
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (next === undefined) return
    onChoose(next.key)
    list.current?.querySelector<HTMLElement>(`#tab-${next.key}`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list}>
      {tabs.map(({ key, label: text }) => (
        <button
          key={key}
          type="button"
          role="tab"
          id={`tab-${key}`}
          class="tabs__tab"
          aria-selected={key === chosen}
          aria-controls={`panel-${key}`}
          tabIndex={key === chosen ? 0 : -1}
          onClick={() => onChoose(key)}
          onKeyDown={({ key: pressed }) => {
            if (pressed === 'ArrowRight') move(1)
            if (pressed === 'ArrowLeft') move(-1)
          }}
        >
          {text}
        </button>
      ))}
    </div>
  )
}
