import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.js'

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
