import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from '../icon.js'

type Tone = 'plain' | 'good' | 'warn' | 'bad'

/** A message with icon, text and colour: colour alone never carries the meaning. */
export function Notice({
  tone,
  icon,
  urgent = false,
  children,
}: {
  readonly tone: Tone
  readonly icon: IconName
  /** Screen readers read it immediately, because the person has to act. */
  readonly urgent?: boolean
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div class={`notice notice--${tone}`} {...(urgent && { role: 'alert' })}>
      <Icon name={icon} />
      <div class="notice__text">{children}</div>
    </div>
  )
}
