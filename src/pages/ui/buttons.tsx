import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { common } from '../i18n/common.js'
import { copyText } from '../lib/browser.js'
import { Icon } from './icon.js'

type Kind = 'primary' | 'plain' | 'quiet' | 'danger'

interface Shared {
  readonly kind?: Kind
  readonly text: ComponentChildren
}

/** While its action runs the button is not disabled, so it keeps the focus. `does`: the action and whether it runs. */
export function Button({
  kind = 'plain',
  type = 'button',
  does,
  busy = does?.busy ?? false,
  text,
  onPress = () => does?.run(),
}: Shared & {
  readonly type?: 'button' | 'submit'
  readonly does?: { readonly busy: boolean; readonly run: () => void }
  readonly busy?: boolean
  readonly onPress?: (() => void) | undefined
}) {
  return (
    <button
      type={type}
      class={`button button--${kind}`}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else onPress()
      }}
    >
      {text}
    </button>
  )
}

/** A link that looks like a button. With `newTab` the new tab gets neither the opener nor the referrer. */
export function LinkButton({
  kind = 'plain',
  href,
  newTab = false,
  text,
}: Shared & {
  readonly href: string
  readonly newTab?: boolean
}) {
  return (
    <a
      class={`button button--${kind}`}
      href={href}
      target={newTab ? '_blank' : '_top'}
      rel="noopener noreferrer"
    >
      {text}
    </a>
  )
}

const shownMs = 2000

/** Copies `value` and confirms it for two seconds. `label` names the value for screen readers; `named` also shows it. */
export function CopyButton({
  value,
  label,
  named = false,
}: {
  readonly value: string
  readonly label: string
  readonly named?: boolean
}) {
  const [copied, setCopied] = useState<boolean>()
  useEffect(() => {
    if (copied === undefined) return
    const timer = setTimeout(() => setCopied(undefined), shownMs)
    return () => clearTimeout(timer)
  }, [copied])
  const word =
    copied === undefined
      ? named
        ? common.copyWhat(label)
        : common.copy
      : copied
        ? common.copied
        : common.copyFailed
  return (
    <button
      type="button"
      class="copy"
      aria-label={copied === undefined ? common.copyWhat(label) : word}
      onClick={() => void copyText(value).then(setCopied)}
    >
      <Icon name={copied === true ? 'tick' : 'copy'} size={16} />
      <span aria-hidden="true">{word}</span>
    </button>
  )
}

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
}) {
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
