import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from '../../ui/icon.js'
import { Heading } from './step.js'

/** A result: a title, an explanation and the possible actions. */
export function Outcome({
  tone,
  icon,
  title,
  more,
  urgent = false,
  children,
}: {
  readonly tone: 'plain' | 'good' | 'warn' | 'bad'
  readonly icon: IconName
  readonly title: string
  readonly more?: ComponentChildren
  /** Screen readers read it immediately, because the supporter has to act. */
  readonly urgent?: boolean
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <section class={`outcome outcome--${tone}`}>
      <span class="outcome__icon">
        <Icon name={icon} size={28} />
      </span>
      <div class="outcome__text" {...(urgent && { role: 'alert' })}>
        <Heading>{title}</Heading>
        {more && <p>{more}</p>}
      </div>
      {children}
    </section>
  )
}
