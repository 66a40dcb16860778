import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { cut } from '../../lib/tip-text.js'
import { Select } from '../../ui/fields.js'
import { Button } from '../../ui/kit.js'
import type { DeliveriesPage, Delivery } from '../answers.js'
import { call } from '../api.js'
import { agoText, momentText, useNow } from '../dates.js'
import { FaultNotice, Unread } from '../parts/notices.js'
import { MoreButton } from '../parts/rows.js'
import { pathsAfter, usePages, usePolling, useSubmit } from '../requests.js'
import { DeliveryMark } from './endpoint.js'

const everyMs = 3000
const filters = ['', 'pending', 'failed'] as const
const answerLength = 120

/** Below it: what became of each event. `isOn`: the endpoint takes what is sent again. */
export function Deliveries({
  path,
  isOn,
  onSent,
}: {
  readonly path: string
  readonly isOn: boolean
  readonly onSent: (news: string) => void
}) {
  const [state, setState] = useState<(typeof filters)[number]>('')
  const now = useNow()
  const first = `${path}/deliveries?limit=20${state && `&state=${state}`}`
  const list = usePages<DeliveriesPage>(pathsAfter(first))
  const again = useSubmit(async (which: { event: string } | { failed: true }) => {
    const { queued } = await call<{ queued: number }>('POST', `${path}/redeliver`, { body: which })
    onSent(text.queued(queued))
    list.reload()
  })
  // A new first page would drop the further ones.
  usePolling(list.reload, everyMs, list.pages.length === 1)
  const deliveries = list.pages.flatMap((page) => page.deliveries)
  const text = words.deliveries
  return (
    <section class="stack">
      <h3>{text.title}</h3>
      <Select
        label={text.filter}
        bare
        choices={filters}
        texts={text.filters}
        chosen={state}
        onChoose={setState}
      />
      {isOn && <Button busy={again.busy} text={text.allAgain} onPress={() => again.run({ failed: true })} />}
      <FaultNotice fault={again.fault} />
      {list.data === undefined && <Unread of={list} />}
      {list.data !== undefined && deliveries.length === 0 && <p class="empty">{text.none}</p>}
      <ul class="rows">
        {deliveries.map((one) => (
          <DeliveryRow
            key={one.event}
            of={one}
            now={now}
            onAgain={isOn && (() => again.run({ event: one.event }))}
          />
        ))}
      </ul>
      <MoreButton of={list} />
    </section>
  )
}

type DeliveryRowProps = { of: Delivery; now: number; onAgain: false | (() => void) }

function DeliveryRow({ of, now, onAgain }: DeliveryRowProps) {
  const { type, sequence, attempts, status, answer, triedAt, nextAttemptAt } = of
  const text = words.deliveries
  const [firstLine = ''] = (answer ?? '').trim().split('\n')
  const facts = [
    triedAt !== null && agoText(triedAt, now),
    text.tries(attempts),
    triedAt !== null && text.status(status),
    triedAt !== null && nextAttemptAt !== null && text.next(momentText(nextAttemptAt)),
  ]
  return (
    <li class="rows__row row">
      <span class="row__what">
        <span class="strong">
          {type} <span class="quiet">#{sequence}</span>
        </span>
        <DeliveryMark of={of} />
        <span class="quiet">{facts.filter(Boolean).join(' · ')}</span>
        {firstLine !== '' && <bdi class="quiet">{cut(firstLine, answerLength)}</bdi>}
      </span>
      {onAgain && (
        <button
          type="button"
          class="copy"
          aria-label={text.againWhat(`${type} #${sequence}`)}
          onClick={onAgain}
        >
          {text.again}
        </button>
      )}
    </li>
  )
}
