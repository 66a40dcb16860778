import type { ComponentChildren, JSX, RefObject } from 'preact'
import { words } from '../../i18n/dashboard.js'

/** The service's icon and name. */
export function Brand(): JSX.Element {
  return (
    <span class="brand">
      <svg aria-hidden="true" width="28" height="28" viewBox="0 0 64 64" fill="none">
        <circle cx="32" cy="32" r="30" class="brand__coin" />
        <path d="M32 14v36M22 24h20M22 40h20" class="brand__sign" stroke-width="5" stroke-linecap="round" />
      </svg>
      {words.brand}
    </span>
  )
}

/** A page for somebody who is not signed in: one card. */
export function OutsidePage({
  title,
  heading,
  below,
  children,
}: {
  readonly title: string
  readonly heading: RefObject<HTMLHeadingElement | null>
  /** Stands below the card. */
  readonly below?: JSX.Element | false
  readonly children: ComponentChildren
}): JSX.Element {
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
