import type { ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from '../../ui/icon.js'
import { Heading } from './step.js'

/** A state told by one sentence, what it means, and what can be done. */
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
  /** Asks something of the person: read out at once. */
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
