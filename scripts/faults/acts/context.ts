import { type ApiAnswer, requestOnce } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import type { Charge } from '../../sandbox/fiatpay/records.js'
import { refundStatus } from '../../sandbox/fiatpay/wire.js'
import type { Stage } from './stage.js'

/** What happened, for the story of a withdrawal. */
export interface ActResult {
  readonly text: string
  /** The reference of the withdrawal that the act is about. */
  readonly about?: string
  /** What must not have happened. */
  readonly broken?: string
}

export interface ActContext {
  readonly stage: Stage
  readonly draw: Draw
  /** What the run has made so far. */
  readonly made: {
    readonly references: string[]
    /** The ones among them whose creator was credited again. */
    readonly recredited: string[]
    readonly intents: string[]
  }
  readonly truth: Truth
}

/** What really happened outside the service, by what operators did with their own hands and by the feed. */
export interface Truth {
  /** Kobo that operators returned in another way, by the provider's id of the payment. */
  readonly returned: Map<string, number>
  /** Every rate that the feed has shown, in naira per dollar. */
  readonly rates: Set<number>
}

export type Act = (context: ActContext) => Promise<ActResult>

export const nothing: ActResult = { text: 'nothing was done' }

export function post(stage: Stage, path: string, body: unknown, cookie = ''): Promise<ApiAnswer> {
  return requestOnce(stage.url, ['POST', path, body], cookie === '' ? {} : { cookie })
}

/** Makes rows due now. */
export async function makeDue(
  { services }: Stage,
  table: string,
  where: Readonly<Record<string, string>> = {},
): Promise<void> {
  const due = services.db(table).where(where).whereNotNull('due_at')
  await due.update({ due_at: new Date(0) })
}

/** The kobo of a charge that arrived and did not go back. */
export function keptKobo({ sandbox }: Stage, { returned }: Truth, charge: Charge | undefined): number {
  if (charge === undefined) return 0
  const { refunds } = sandbox.fiatpay
  const back = refunds.listByReference(charge.reference).filter((one) => refundStatus(one) !== 'failed')
  return charge.payments.reduce((sum, { id, amountKobo }) => {
    const refunded = back
      .filter(({ transaction }) => transaction === id)
      .reduce((total, refund) => total + refund.amountKobo, 0)
    return sum + amountKobo - Math.max(refunded, returned.get(String(id)) ?? 0)
  }, 0)
}
