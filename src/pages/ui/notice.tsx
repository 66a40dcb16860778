import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from './icon.js'
import './notice.css'

type Tone = 'plain' | 'good' | 'warn' | 'bad'

/** A state told by icon, word and colour together, never by colour alone. */
export function Notice({
  tone,
  icon,
  urgent = false,
  children,
}: {
  readonly tone: Tone
  readonly icon: IconName
  /** Read out at once: something is asked of the person. */
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
