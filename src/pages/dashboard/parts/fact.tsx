import type { ComponentChildren, JSX } from 'preact'

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
