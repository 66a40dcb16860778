import type { ServerUrls } from '../kill-payouts.js'
import { type Outcome, openStage, type StagePlan } from './stage.js'

export interface RollingPlan extends StagePlan {
  readonly rounds: number
  /** The least number of requests. */
  readonly requests: number
  readonly report: (progress: string) => void
}

export interface RollingResult extends Outcome {
  readonly restarts: number
}

/**
 * Restarts every process of the service, one after the other, in each round, as a deploy does: told to stop by a signal,
 * and started again when it has ended. The proxy learns only from `/ready`.
 */
export async function runRolling(servers: ServerUrls, plan: RollingPlan): Promise<RollingResult> {
  const stage = await openStage(servers, plan)
  try {
    const { webs, workers, load } = stage
    let restarts = 0
    for (let round = 1; round <= plan.rounds; round++) {
      await stage.untilSent(((round - 1) * plan.requests) / plan.rounds)
      for (const process of [...webs, ...workers]) {
        await stage.untilReady(webs.length)
        await process.stop()
        await process.start(plan.folder)
        restarts += 1
      }
      plan.report(`round ${round}: ${load.count} requests, ${load.failed} failed`)
    }
    await stage.untilReady(webs.length)
    await stage.untilSent(plan.requests)
    return { restarts, ...(await stage.finish()) }
  } finally {
    await stage.close()
  }
}
