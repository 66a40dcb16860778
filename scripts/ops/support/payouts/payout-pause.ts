import { pausePayouts, resumePayouts } from '../../../../src/outgoing/guards.js'
import { readSwitches } from '../../../../src/platform/database/switches/switches.js'
import type { Services } from '../../../../src/services.js'
import { applyHint, type Outcome, RefusedError } from '../command.js'
import { recordAudit } from '../record-audit.js'
import { listPayouts } from './payout-rows.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config'>

export interface PauseRequest {
  readonly to: 'pause' | 'resume'
  readonly actor: string
  /** Empty in a plan. */
  readonly reason: string
  readonly apply: boolean
}

const maxCounted = 1000

const words = {
  pause: { done: 'payouts are paused: nothing new is sent', plan: 'would pause payouts' },
  resume: { done: 'payouts run again', plan: 'would let payouts run again' },
} as const

/** Pauses payouts, or lets them run again, with its line in the audit log. Throws RefusedError when they are so already. */
export async function changePause(services: Needs, request: PauseRequest): Promise<Outcome> {
  const { to, actor, reason, apply } = request
  const change = to === 'pause' ? pausePayouts : resumePayouts
  const changed =
    apply &&
    (await services.transact(async (uow) => {
      if (!(await change(uow, { by: actor, reason }))) return false
      const subject = 'switch:payouts'
      await recordAudit(uow.trx, { actor, action: `payouts ${to}`, subject, details: { reason } })
      return true
    }))
  const [state] = (await readSwitches(services.db)).filter(({ name }) => name === 'payouts')
  const stopped = state?.stoppedAt ?? null
  const now =
    stopped === null
      ? 'payouts run'
      : `payouts are paused since ${stopped.toISOString()} by ${state?.changedBy}: ${state?.reason}`
  const json = { applied: changed, pausedAt: stopped?.toISOString() ?? null, by: state?.changedBy ?? null }
  if (!changed && (stopped === null) === (to === 'resume')) throw new RefusedError(`not done: ${now}`, json)
  const waiting = (await listPayouts(services, { state: 'breaker', olderThanSeconds: 0, limit: maxCounted }))
    .length
  const count = `${waiting}${waiting === maxCounted ? ' or more' : ''} wait`
  return {
    text: changed ? `${words[to].done}; ${count}` : `${now}; ${count}; ${words[to].plan}; ${applyHint}`,
    json: { ...json, waiting },
  }
}
