import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Icon, type IconName } from '../../ui/icon.js'
import type { PayoutStatus, RefundStatus, TipStatus, TransferStatus } from '../answers.js'

type State = TipStatus | PayoutStatus | RefundStatus | TransferStatus

const appearances: Readonly<Record<State, { tone: string; icon: IconName }>> = {
  pending: { tone: 'warn', icon: 'wait' },
  submitted: { tone: 'warn', icon: 'wait' },
  processing: { tone: 'warn', icon: 'wait' },
  confirmed: { tone: 'good', icon: 'tick' },
  completed: { tone: 'good', icon: 'tick' },
  failed: { tone: 'bad', icon: 'cross' },
  cancelled: { tone: 'plain', icon: 'cross' },
  paid: { tone: 'good', icon: 'tick' },
  prepared: { tone: 'plain', icon: 'wait' },
  signed: { tone: 'warn', icon: 'wait' },
  final: { tone: 'good', icon: 'tick' },
  expired: { tone: 'plain', icon: 'cross' },
}

/** A status as icon, text and colour. */
export function Status({ status }: { readonly status: State }): JSX.Element {
  const { tone, icon } = appearances[status]
  return (
    <span class={`status status--${tone}`}>
      <Icon name={icon} size={14} />
      {words.status[status]}
    </span>
  )
}
