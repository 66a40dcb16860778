import type { ComponentChildren, JSX, RefObject } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { useFocus } from './focus.js'

interface CardProps {
  name: string
  title: ComponentChildren
  lead?: string
  beside?: JSX.Element
  /** Of a title that may get the focus. */
  heading?: RefObject<HTMLHeadingElement | null>
  class?: string
  children: ComponentChildren
}

export function Card({ name, title, lead, beside, heading, class: kind = '', children }: CardProps) {
  const head = (
    <h2 id={`${name}-title`} {...(heading && { ref: heading, tabIndex: -1 })}>
      {title}
    </h2>
  )
  return (
    <section class={`card ${kind}`} aria-labelledby={`${name}-title`}>
      {beside === undefined ? (
        head
      ) : (
        <header class="row">
          {head}
          {beside}
        </header>
      )}
      {lead !== undefined && <p class="quiet">{lead}</p>}
      {children}
    </section>
  )
}

export function Brand() {
  return (
    <span class="brand">
      <svg aria-hidden="true" width="28" height="28" viewBox="0 0 64 64" fill="none">
        <circle cx="32" cy="32" r="30" fill="var(--accent)" />
        <path
          d="M32 14v36M22 24h20M22 40h20"
          stroke="var(--on-accent)"
          stroke-width="5"
          stroke-linecap="round"
        />
      </svg>
      {words.brand}
    </span>
  )
}

interface OutsidePageProps {
  /** Gets the focus when it changes; `focused`: at once. */
  title: string
  focused?: boolean
  below?: JSX.Element | false
  children: ComponentChildren
}

/** A page for somebody who is not signed in: one card. */
export function OutsidePage({ title, focused = false, below, children }: OutsidePageProps) {
  const heading = useFocus(title, { atFirst: focused })
  return (
    <main class="sign-in-page">
      <Brand />
      <div class="card">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </div>
      {below}
    </main>
  )
}
