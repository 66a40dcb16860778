import { ProviderError } from '../kernel/provider-error.js'
import { finishRows, msToNextDueRow, takeDueRows } from '../platform/database/due-rows.js'
import { isDatabaseKnown } from '../platform/database/restore-guard.js'
import type { Batch } from '../platform/worker/batch-loop.js'
import type { Fate, Submission } from '../ports/custody-chain.js'
import type { Services } from '../services.js'
import type { CustodianNeeds } from './custodian/sign-message.js'
import { signSweep } from './sweeps/sign-sweep.js'
import { endSweep, findShort } from './sweeps/steps.js'
import { type DueSweep, sweepQueue } from './sweeps/sweep.js'

type Needs = CustodianNeeds & Pick<Services, 'db' | 'transact'>

/** Pauses in ms: until the chain is asked again, after an error, and while a person has to decide. */
const lookMs = 1000
const errorMs = 5000
const undecidedMs = 600_000
const maxErrorLength = 200

/** Signs planned sweeps, and follows the signed ones to their end. It submits nothing. */
export function createCustodianBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueRows<DueSweep>(services.db, sweepQueue)
    if (due.length === 0) return { taken: 0, nextDueMs: await msToNextDueRow(services.db, sweepQueue) }
    const fates = await readFates(services, due)
    const pauses: number[] = []
    // One after the other: two rows of one creator wait for the same locks anyway.
    for (const sweep of due) pauses.push(await work(services, sweep, fates.get(sweep.id)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

async function readFates(
  { custodyChain }: Needs,
  due: readonly DueSweep[],
): Promise<Map<string, Fate | ProviderError>> {
  const signed = due.filter(({ state }) => state !== 'planned')
  const submissions = signed.map(
    ({ signature, lastValidHeight }): Submission => ({
      signature: signature ?? undefined,
      lastValidHeight: Number(lastValidHeight),
    }),
  )
  try {
    const fates = await custodyChain.fates(submissions)
    return new Map(signed.flatMap(({ id }, index) => [[id, fates[index] ?? { kind: 'open' }] as const]))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return new Map(signed.map(({ id }) => [id, error]))
  }
}

/** Takes the next step of one sweep. Returns the ms until the next look. */
async function work(
  services: Needs,
  sweep: DueSweep,
  fate: Fate | ProviderError | undefined,
): Promise<number> {
  const { db, log } = services
  let dueInMs = lookMs
  let failure: string | undefined
  try {
    if (fate instanceof ProviderError) throw fate
    if (sweep.state === 'planned') await signSweep(services, sweep)
    else if (fate !== undefined) dueInMs = await followSweep(services, sweep, fate)
  } catch (error) {
    dueInMs = errorMs
    failure = String(error instanceof Error ? error.message : error).slice(0, maxErrorLength)
    log.warn(
      { err: error, sweep: sweep.id, signature: sweep.signature },
      'a sweep could not be taken further; it is tried again',
    )
  }
  await finishRows(db, sweepQueue, [{ ...sweep, dueInMs, error: failure }])
  return dueInMs
}

async function followSweep(services: Needs, sweep: DueSweep, fate: Fate): Promise<number> {
  const { transact, log } = services
  const { id, state: from, signature } = sweep
  const end = (to: 'final' | 'failed' | 'dead', failure?: string) =>
    transact((uow) => endSweep(uow, id, { from, to, ...(failure === undefined ? {} : { failure }) }))
  if (fate.kind === 'open') return lookMs
  if (fate.kind === 'final') await end('final')
  else if (fate.kind === 'failed') await end('failed', 'it landed, and its instructions failed')
  // What landed in the lost time may be this one: adopt it first.
  else if (from === 'signed' && !(await isDatabaseKnown(services.db))) return errorMs
  else if (from === 'signed') await end('dead', 'the payer did not sign it in time')
  else if (fate.endpoints === 1 || (await findShort(services, id)) !== undefined)
    return undecided(services, sweep)
  else await end('dead', 'it did not land in time')
  log.info({ sweep: id, signature, fate: fate.kind }, 'a sweep is at its end')
  return lookMs
}

/** The only endpoint may have lost its history, or a custody wallet lacks its part: a person decides. */
async function undecided({ db, metrics, log }: Needs, { id, signature, expired }: DueSweep): Promise<number> {
  if (expired) return undecidedMs
  await db('sweeps').where({ id, state: 'sent' }).update({ expired_at: db.fn.now() })
  metrics.alerts.inc({ kind: 'sweep_undecided' })
  log.error({ sweep: id, signature }, 'the chain alone does not show whether a sweep landed')
  return undecidedMs
}
