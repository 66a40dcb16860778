import { seededNumber } from '../sandbox/fiatpay/seeded-choice.js'

/** Where a process is killed: phase and name of a statement or request, and the number of the occurrence. */
export interface KillPoint {
  readonly at: string
  readonly nth: number
}

const around = (...names: string[]): string[] => names.flatMap((name) => [`before ${name}`, `after ${name}`])

/** The statements and requests of each role that change or query something. */
const killPoints = {
  payouts: [
    ...around('payouts.take', 'payouts.sending', 'payouts.accepted', 'COMMIT'),
    ...around('POST /transferrecipient', 'POST /transfer'),
    'during POST /transfer',
    'during POST /transfer',
    ...around('payouts.unknown', 'payouts.unsent'),
    'before payouts.refused',
    'before payouts.lock',
  ],
  reconciler: [
    ...around('reconciler.take', 'GET /transfer/verify', 'payouts.lock', 'COMMIT'),
    'during GET /transfer/verify',
    ...around('payouts.submitted', 'payouts.processing', 'payouts.completed', 'payouts.failed'),
    ...around('ledger.post', 'payouts.state', 'reconciler.finish'),
    'before reviews.open',
  ],
  web: [
    ...around('idempotency.take', 'payouts.stored', 'identity.read', 'ledger.post', 'payouts.insert'),
    ...around('COMMIT', 'payouts.outcome', 'idempotency.store'),
    'before GET /rates/USD',
  ],
  refunds: [
    ...around('refunds.take', 'refunds.sending', 'refunds.accepted', 'POST /refund', 'COMMIT'),
    'during POST /refund',
    'during POST /refund',
    ...around(
      'refunds.unknown',
      'refunds.unsent',
      'refunds.lock',
      'refunds-sent.take',
      'refunds-sent.finish',
    ),
    ...around('GET /refund', 'refunds.submitted', 'refunds.processing', 'refunds.completed', 'ledger.post'),
    'before refunds.refused',
  ],
  'web-refunds': [
    ...around('idempotency.take', 'refunds.own', 'refunds.insert', 'ledger.post', 'COMMIT'),
    ...around('idempotency.store'),
  ],
  suspense: [
    ...around(
      'refunds.of-suspense',
      'suspense.give-to-refund',
      'refunds.sending',
      'refunds.accepted',
      'COMMIT',
    ),
    ...around('POST /refund', 'GET /refund'),
    'during POST /refund',
  ],
  'web-take-outs': [
    ...around('take-outs.prepare', 'take-outs.hand-in', 'take-outs.find', 'step-up.use', 'COMMIT'),
  ],
  custodian: [
    ...around('sweeps.take', 'custody.lock', 'custody.sign', 'ledger.post', 'sweeps.signed', 'COMMIT'),
    ...around('sweeps.lock', 'sweeps.end', 'custody.sweep', 'custody.giveBack', 'sweeps.finish'),
    ...around('take-outs.take', 'take-outs.lock', 'take-outs.sign', 'take-outs.end', 'custody.takeOut'),
    ...around('POST /'),
    'during POST /',
  ],
  sweep: [...around('sweeps.plan', 'sweeps.plan-parts', 'sweeps.sent', 'COMMIT', 'POST /'), 'during POST /'],
  verifier: [
    ...around(
      'tips.take',
      'tips.confirm',
      'tips.finalize',
      'tips.finish',
      'ledger.post-many',
      'COMMIT',
      'POST /',
    ),
  ],
  settlement: [
    ...around('fiat.take', 'fiat.payment', 'fiat.complete', 'ledger.post', 'receivables.cover', 'COMMIT'),
    ...around('returns.take', 'disputes.insert', 'disputes.store-return', 'GET /dispute'),
  ],
} satisfies Record<string, readonly string[]>
export type Role = keyof typeof killPoints
export const roles = Object.keys(killPoints) as readonly Role[]

/** Maximum of `nth`. It is higher for the web process, which must create withdrawals before it dies. */
const nthMax: Readonly<Record<Role, number>> = {
  payouts: 4,
  reconciler: 6,
  web: 24,
  refunds: 4,
  'web-refunds': 6,
  suspense: 1,
  'web-take-outs': 3,
  custodian: 2,
  sweep: 5,
  verifier: 3,
  settlement: 6,
}

/** The kill point of the nth process of a role. It depends only on the seed, the role and n. */
export function chooseKillPoint(seed: number, role: Role, nth: number): KillPoint {
  const list = killPoints[role]
  const at = list[Math.floor(seededNumber(seed, 'point', role, nth) * list.length)] ?? ''
  return { at, nth: 1 + Math.floor(seededNumber(seed, 'nth', role, nth) * nthMax[role]) }
}
