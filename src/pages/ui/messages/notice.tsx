import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from '../icon.js'

type Tone = 'plain' | 'good' | 'warn' | 'bad'

/** A message with icon, text and colour: colour alone never carries the meaning. */
export function Notice({
  tone,
  icon,
  urgent = false,
  title,
  children,
}: {
  readonly tone: Tone
  readonly icon: IconName
  /** Screen readers read it immediately, because the person has to act. */
  readonly urgent?: boolean
  /** Stands above what is told. */
  readonly title?: ComponentChildren
  readonly children: ComponentChildren
}): JSX.Element {
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
