import type { ComponentChildren, ComponentProps, JSX } from 'preact'
import { momentText } from '../../dates.js'
import { Status } from '../status.js'

/** A withdrawal or take-out in a list: on the left what went where and its state, on the right its worth and when. */
export function MoneyRow({
  what,
  to,
  status,
  worth,
  createdAt,
  onOpen,
}: {
  readonly what: ComponentChildren
  readonly to: ComponentChildren
  readonly status: ComponentProps<typeof Status>['status']
  readonly worth?: string
  readonly createdAt: string
  readonly onOpen: () => void
}): JSX.Element {
  return (
    <li class="rows__row">
      <button type="button" class="tip-row" onClick={onOpen}>
        <span class="tip-row__what">
          {what}
          {to}
          <Status status={status} />
        </span>
        <span class="tip-row__right">
          {worth !== undefined && <span class="number tip-row__value">{worth}</span>}
          <time class="quiet" dateTime={createdAt}>
            {momentText(createdAt)}
          </time>
        </span>
      </button>
    </li>
  )
}
