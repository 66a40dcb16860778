import type { ComponentChildren, JSX, RefObject } from 'preact'

/** A part of a screen, with its title and what it is for. */
export function Card({
  name,
  title,
  lead,
  beside,
  heading,
  class: kind = '',
  children,
}: {
  /** Begins the id of its title. */
  readonly name: string
  readonly title: ComponentChildren
  readonly lead?: string
  /** On the line of the title. */
  readonly beside?: JSX.Element
  /** Of a title that may get the focus. */
  readonly heading?: RefObject<HTMLHeadingElement | null>
  readonly class?: string
  readonly children: ComponentChildren
}): JSX.Element {
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

/** One line of a description list. */
export function Fact({
  name,
  strong = false,
  children,
}: {
  readonly name: string
  readonly strong?: boolean
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div class={`facts__line ${strong ? 'facts__line--strong' : ''}`}>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  )
}
