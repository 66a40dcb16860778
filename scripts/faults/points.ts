import { roll } from '../sandbox/fiatpay/dice.js'

/** The processes that are killed, by the name they are started with. */
export const roles = ['payouts', 'reconciler', 'web'] as const
export type Role = (typeof roles)[number]

/** Where a process is killed: phase and name of a statement or request, and the how manyth time. */
export interface FailPoint {
  readonly at: string
  readonly nth: number
}

const around = (...names: string[]): string[] => names.flatMap((name) => [`before ${name}`, `after ${name}`])

/** The steps of each role that change something, or ask about it. */
const points: Readonly<Record<Role, readonly string[]>> = {
  payouts: [
    ...around('payouts.claim', 'payouts.recipient', 'payouts.sending', 'payouts.accepted', 'COMMIT'),
    ...around('POST /transferrecipient', 'POST /transfer'),
    'during POST /transfer',
    'during POST /transfer',
    ...around('payouts.unknown', 'payouts.unsent'),
    'before payouts.refused',
    'before payouts.lock',
  ],
  reconciler: [
    ...around('payouts.claim-to-ask', 'GET /transfer/verify', 'payouts.lock', 'COMMIT'),
    'during GET /transfer/verify',
    ...around('payouts.submitted', 'payouts.processing', 'payouts.completed', 'payouts.failed'),
    ...around('ledger.post', 'payouts.state', 'payouts.put-off'),
    'before reviews.open',
  ],
  web: [
    ...around('idempotency.claim', 'payouts.stored', 'identity.holder', 'ledger.post', 'payouts.insert'),
    ...around('COMMIT', 'payouts.verdict', 'idempotency.store'),
    'before GET /rates/USD',
  ],
}

/** A process lives through fewer than so many of its point. The web serves more, else nothing would be asked for. */
const nthMost: Readonly<Record<Role, number>> = { payouts: 4, reconciler: 6, web: 24 }

/** Where the nth process of a role dies; the same for the same seed. */
export function failPoint(seed: number, role: Role, nth: number): FailPoint {
  const list = points[role]
  const at = list[Math.floor(roll(seed, 'point', role, nth) * list.length)] ?? ''
  return { at, nth: 1 + Math.floor(roll(seed, 'nth', role, nth) * nthMost[role]) }
}
