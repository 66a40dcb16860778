import { words } from '../../i18n/dashboard.js'
import type { Delivery, Webhook } from '../answers.js'
import { agoText, momentText } from '../dates.js'
import { Mark } from '../parts/rows.js'

export const hooksPath = '/creators/webhooks'

/** What is open: an endpoint's details, or a question about it. */
export type Asked = 'show' | 'add' | 'change' | 'rotate' | 'enable' | 'delete'

type EndpointRowProps = { hook: Webhook; now: number; onOpen: () => void }

export function EndpointRow({ hook, now, onOpen }: EndpointRowProps) {
  const { url, description, lastDelivery: last } = hook
  return (
    <li class="rows__row">
      <button type="button" class="tip-row" onClick={onOpen}>
        <span class="row__what">
          <bdi class="strong">{url}</bdi>
          {description !== null && <bdi>{description}</bdi>}
          <span class="quiet">{typesText(hook)}</span>
          {hook.disabledBy !== null && <span class="quiet">{words.hooks.off[hook.disabledBy]}</span>}
          {last?.triedAt && (
            <span class="quiet">
              {words.hooks.last(
                `${last.type}, ${words.deliveries.status(last.status)}`,
                agoText(last.triedAt, now),
              )}
            </span>
          )}
        </span>
        <EndpointMark of={hook} />
      </button>
    </li>
  )
}

/** The types that are sent, as the API names them. */
export const typesText = ({ types }: Webhook): string =>
  types.length === 0 ? words.hooks.all : types.join(', ')

export function EndpointMark({ of: { status, failingSince, lastDelivery } }: { readonly of: Webhook }) {
  const text = words.hooks.states
  if (status === 'disabled') return <Mark tone="plain" icon="cross" text={text.off} />
  if (failingSince !== null)
    return <Mark tone="bad" icon="warn" text={text.failing(momentText(failingSince))} />
  if (lastDelivery === null) return <Mark tone="plain" icon="wait" text={text.new} />
  return <Mark tone="good" icon="tick" text={text.working} />
}

export function DeliveryMark({ of: { state, triedAt } }: { readonly of: Delivery }) {
  const text = words.deliveries.states
  if (state === 'delivered') return <Mark tone="good" icon="tick" text={text.delivered} />
  if (state === 'failed') return <Mark tone="bad" icon="cross" text={text.failed} />
  if (triedAt === null) return <Mark tone="plain" icon="wait" text={text.pending} />
  return <Mark tone="warn" icon="wait" text={text.trying} />
}
