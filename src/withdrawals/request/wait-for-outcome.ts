import { query } from '../../platform/database/database.js'
import { waitForRow } from '../../platform/database/wait-for-row.js'
import type { Services } from '../../services.js'
import { payoutChannel, type Withdrawal } from '../withdrawal.js'

type Seen = Pick<Withdrawal, 'status' | 'sendState' | 'failureReason'>

/** What a request that waited may say. `reason`: the provider's text. */
type Outcome =
  | { readonly kind: 'submitted' | 'pending' }
  | { readonly kind: 'failed'; readonly reason: string }

export type WaitForOutcome = (reference: string) => Promise<Outcome>

/**
 * Waits, for a time, until the worker knows whether the provider takes a withdrawal. Only so many wait at once in a
 * process: a provider that has become slow must not pile up requests. `pending` says nothing but that.
 */
export function createWaitForOutcome(
  services: Pick<Services, 'db' | 'notifications' | 'config'>,
): WaitForOutcome {
  const { waitMs, waits } = services.config.withdrawals
  let waiting = 0
  return async (reference) => {
    const totalMs = waiting < waits ? waitMs : 0
    waiting += 1
    try {
      const read = () => readVerdict(services, reference)
      const options = { notifications: services.notifications, channel: payoutChannel(reference), totalMs }
      return (await waitForRow(read, options)) ?? { kind: 'pending' }
    } finally {
      waiting -= 1
    }
  }
}

/** Undefined while there is something to wait for. */
async function readVerdict({ db }: Pick<Services, 'db'>, reference: string): Promise<Outcome | undefined> {
  const [row] = await query<Seen>(db, {
    name: 'payouts.verdict',
    text: /* sql */ `
      select status, send_state as "sendState", failure_reason as "failureReason" from withdrawals where reference = $1`,
    values: [reference],
  })
  if (row?.status === 'failed') return { kind: 'failed', reason: row.failureReason ?? '' }
  if (row?.sendState === 'identity_hold') return { kind: 'pending' }
  return row === undefined || row.status === 'pending' ? undefined : { kind: 'submitted' }
}
