import type { AriaAttributes, ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { common } from '../i18n/common.js'
import { copyText } from '../lib/browser.js'

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

type LinkButtonProps = Shared & { href: string; newTab?: boolean }

/** A link that looks like a button. With `newTab` the new tab gets neither the opener nor the referrer. */
export function LinkButton({ kind = 'plain', href, newTab = false, text }: LinkButtonProps) {
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

type CopyButtonProps = { value: string; label: string; named?: boolean }

/** Copies `value` and confirms it for two seconds. `label` names the value for screen readers; `named` also shows it. */
export function CopyButton({ value, label, named = false }: CopyButtonProps) {
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

interface FactProps {
  name: string
  strong?: boolean
  /** What a button beside the value copies; `label` names it for screen readers. */
  copied?: string
  label?: string
  children: ComponentChildren
}

/** A line of a `dl` of the class `facts`. */
export function Fact({ name, strong = false, copied, label = name.toLowerCase(), children }: FactProps) {
  return (
    <div class={`facts__line ${strong ? 'facts__line--strong' : ''}`}>
      <dt>{name}</dt>
      <dd class={`number ${copied ? 'row' : ''}`}>
        {children}
        {copied && <CopyButton value={copied} label={label} />}
      </dd>
    </div>
  )
}

interface StepsProps {
  label?: string
  steps: readonly string[]
  /** The one of now. Those before it are done. */
  at: number
  stacked?: boolean
}

export function Steps({ label, steps, at, stacked = false }: StepsProps) {
  return (
    <ol class={`marks ${stacked ? 'marks--stacked' : ''}`} aria-label={label}>
      {steps.map((step, index) => (
        <li
          key={step}
          class={`marks__mark ${index < at ? 'marks__mark--done' : ''}`}
          aria-current={index === at ? 'step' : undefined}
        >
          {step} {index < at && <span class="visually-hidden">{common.done}</span>}
        </li>
      ))}
    </ol>
  )
}

interface Tab<Key extends string> {
  readonly key: Key
  readonly label: JSX.Element | string
}

type TabsProps<Key extends string> = {
  label: string
  tabs: readonly Tab<Key>[]
  chosen: Key
  onChoose: (key: Key) => void
}

/**
 * The ARIA tabs pattern: one Tab stop, arrow keys move and choose. The caller renders the panel with `role="tabpanel"`, the
 * id `panel-<key>` and `aria-labelledby="tab-<key>"`.
 */
export function Tabs<Key extends string>({ label, tabs, chosen, onChoose }: TabsProps<Key>) {
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

type TextButtonProps = AriaAttributes & { class?: string; text: ComponentChildren; onPress: () => void }

/** A button that looks like a link. */
export function TextButton({ class: kind = '', text, onPress, ...aria }: TextButtonProps) {
  return (
    <button type="button" class={`link ${kind}`} {...aria} onClick={() => onPress()}>
      {text}
    </button>
  )
}

/**
 * The polite live region of a page. It is rendered empty first, because screen readers do not read a region that appears
 * together with its text.
 */
export function Announcer({ text }: { readonly text: string }) {
  const [announced, announce] = useState('')
  useEffect(() => announce(text), [text])
  return (
    <p role="status" class="visually-hidden">
      {announced}
    </p>
  )
}

const icons = { plain: 'wait', good: 'tick', warn: 'warn', bad: 'warn' } as const satisfies Record<
  string,
  IconName
>

/** A message with icon, text and colour: colour alone never carries the meaning. */
export function Notice({
  tone,
  icon = icons[tone],
  urgent = false,
  title,
  text,
  children = text,
}: {
  readonly tone: keyof typeof icons
  readonly icon?: IconName
  /** Screen readers read it immediately, because the person has to act. */
  readonly urgent?: boolean
  readonly title?: ComponentChildren
  readonly text?: ComponentChildren
  readonly children?: ComponentChildren
}) {
  return (
    <div class={`notice notice--${tone}`} {...(urgent && { role: 'alert' })}>
      <Icon name={icon} />
      <div class="notice__text">
        {title !== undefined && <strong>{title}</strong>}
        {title === undefined ? children : <div>{children}</div>}
      </div>
    </div>
  )
}

/** A QR code, dark on light in both themes with a quiet zone of four modules, because cameras need both. Loaded on demand. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let wanted = true
    void import('lean-qr').then(({ generate }) => {
      if (wanted && canvas.current !== null)
        generate(text).toCanvas(canvas.current, { on: [0, 0, 0], off: [255, 255, 255], pad: 4 })
    })
    return () => {
      wanted = false
    }
  }, [text])
  return (
    <figure class="qr">
      <canvas ref={canvas} role="img" aria-label={label} />
      <figcaption>{label}</figcaption>
    </figure>
  )
}

const paths = {
  tick: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  warn: 'M12 8v5M12 16.6v.2M12 3.5L2.5 20h19L12 3.5z',
  wait: 'M12 7v5l3.5 2M12 3a9 9 0 100 18 9 9 0 000-18z',
  wallet: 'M3.5 7.5v10a2 2 0 002 2h13a2 2 0 002-2v-8a2 2 0 00-2-2h-13a2 2 0 010-4h12M16.5 13.5h.2',
  bank: 'M4 10h16L12 4.5 4 10zM6 10v7M10 10v7M14 10v7M18 10v7M3.5 20h17',
  phone:
    'M8 3h8a1.5 1.5 0 011.5 1.5v15A1.5 1.5 0 0116 21H8a1.5 1.5 0 01-1.5-1.5v-15A1.5 1.5 0 018 3zM11 18h2',
  out: 'M14 4.5h5.5V10M19 5l-8.5 8.5M17.5 14v4a1.5 1.5 0 01-1.5 1.5H6A1.5 1.5 0 014.5 18V8A1.5 1.5 0 016 6.5h4',
  home: 'M4 11l8-7 8 7M6 9.5V20h12V9.5',
  list: 'M4 6.5h16M4 12h16M4 17.5h10',
  more: 'M5 12h.2M12 12h.2M19 12h.2',
  share: 'M12 15V4M8 8l4-4 4 4M6 12v8h12v-8',
  copy: 'M9 9h9.5v10.5H9zM15 9V4.5H5.5V15H9',
  mail: 'M3.5 6h17v12.5h-17zM4 6.5l8 6.5 8-6.5',
  offline: 'M4 4l16 16M8.5 15.5a5 5 0 016-.8M5 12a10 10 0 014-2.4M12.5 9.1A10 10 0 0119 12M12 19h.1',
} as const

export type IconName = keyof typeof paths

/** Icons grow with the text. */
const rem = (size: number): string => `${size / 16}rem`

/** An icon next to a text, never instead of one: hidden from screen readers. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={rem(size)}
      height={rem(size)}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  )
}
