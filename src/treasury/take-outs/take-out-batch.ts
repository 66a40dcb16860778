import { ProviderError } from '../../kernel/provider-error.js'
import { write } from '../../platform/database/database.js'
import { finishRows, msToNextDueRow, takeDueRows } from '../../platform/database/due-rows.js'
import { isDatabaseKnown } from '../../platform/database/restore-guard.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { Fate } from '../../ports/custody-chain.js'
import type { Services } from '../../services.js'
import type { CustodianNeeds } from '../custodian/sign-message.js'
import { hasLeft } from '../custody-move.js'
import { signTakeOut } from './sign-take-out.js'
import { endTakeOut, expirePrepared, findLanded, setSignature } from './steps.js'
import { type DueTakeOut, takeOutOf, takeOutQueue } from './take-out.js'

type Needs = CustodianNeeds & Pick<Services, 'db' | 'transact'>
type Stored = Omit<DueTakeOut, 'amount'> & { readonly amount: string }

/** Pauses in ms: until the chain is asked again, after an error, of a prepared one, and while a person has to decide. */
const lookMs = 1000
const errorMs = 3000
const preparedMs = 15_000
const undecidedMs = 600_000
const maxErrorLength = 200

/**
 * Signs what payout wallets have handed in, and follows the signed take-outs to their end. Apart from sweeps, so that a creator
 * does not wait for them. It submits nothing.
 */
export function createTakeOutBatch(services: Needs): Batch {
  return async () => {
    const { db } = services
    const due = (await takeDueRows<Stored>(db, takeOutQueue)).map(takeOutOf)
    if (due.length === 0) return { taken: 0, nextDueMs: await msToNextDueRow(db, takeOutQueue) }
    const pauses = await Promise.all(due.map((takeOut) => work(services, takeOut)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** Takes the next step of one take-out. Returns the ms until the next look. */
async function work(services: Needs, takeOut: DueTakeOut): Promise<number> {
  const { db, log } = services
  let dueInMs = errorMs
  let error: string | undefined
  try {
    dueInMs =
      takeOut.state === 'prepared'
        ? await signOrExpire(services, takeOut)
        : await followTakeOut(services, takeOut)
  } catch (failure) {
    error = String(failure instanceof Error ? failure.message : failure).slice(0, maxErrorLength)
    log.warn(
      { err: failure, takeOut: takeOut.id },
      'a take-out could not be taken further; it is tried again',
    )
    if (!(failure instanceof ProviderError)) services.metrics.batchErrors.inc({ kind: 'take-outs' })
  }
  await finishRows(db, takeOutQueue, [{ ...takeOut, dueInMs, error }])
  return dueInMs
}

async function signOrExpire(services: Needs, takeOut: DueTakeOut): Promise<number> {
  const { chain, db } = services
  // It may have been signed and landed in the time that a restore has lost.
  if (!(await isDatabaseKnown(db))) return errorMs
  if ((await chain.blockHeight()) > takeOut.lastValidHeight) {
    await expirePrepared(db, takeOut.id)
    return lookMs
  }
  if (takeOut.handedIn === null || takeOut.refusalCode !== null) return preparedMs
  await signTakeOut(services, takeOut)
  return lookMs
}

async function followTakeOut(services: Needs, takeOut: DueTakeOut): Promise<number> {
  const { custodyChain, log } = services
  const { id, signature, lastValidHeight } = takeOut
  const submission = { signature: signature ?? undefined, lastValidHeight: Number(lastValidHeight) }
  const [fate = { kind: 'open' }] = await custodyChain.fates([submission])
  if (fate.kind === 'open') return lookMs
  if (fate.kind === 'gone') return giveUp(services, takeOut, fate)
  await end(services, id, fate.kind, fate.kind === 'failed' ? 'it landed, and its instructions failed' : null)
  log.info({ takeOut: id, signature, fate: fate.kind }, 'a take-out is at its end')
  return lookMs
}

function end(
  { transact }: Needs,
  id: string,
  to: 'final' | 'failed' | 'expired',
  failure: string | null,
): Promise<boolean> {
  return transact((uow) => endTakeOut(uow, id, to, failure))
}

/** Nobody knows the signature, and it can no longer land: unless the wallet has signed the message a second time. */
async function giveUp(
  services: Needs,
  takeOut: DueTakeOut,
  { endpoints }: Extract<Fate, { kind: 'gone' }>,
): Promise<number> {
  const { db, log } = services
  const landed = await findLanded(services, takeOut)
  if (landed === 'none' && endpoints > 1 && !(await hasLeft(services, takeOut))) {
    await end(services, takeOut.id, 'expired', 'it did not land in time')
    log.info({ takeOut: takeOut.id, signature: takeOut.signature }, 'a take-out did not land in time')
    return lookMs
  }
  if (landed === 'none' || landed === 'unknown') return undecided(services, takeOut)
  await setSignature(db, takeOut.id, landed.signature)
  log.warn(
    { takeOut: takeOut.id, ...landed },
    'a take-out landed under a second signature of its payout wallet',
  )
  return lookMs
}

/** A person decides: the endpoints may have lost their history, or somebody floods the key of the payment. */
async function undecided({ db, metrics, log }: Needs, takeOut: DueTakeOut): Promise<number> {
  const { id, signature, undecidedAt } = takeOut
  if (undecidedAt !== null) return undecidedMs
  await write(db, {
    name: 'take-outs.undecided',
    text: `update wallet_transfers set undecided_at = clock_timestamp() where id = $1 and state = 'signed'`,
    values: [id],
  })
  metrics.alerts.inc({ kind: 'take_out_undecided' })
  log.error({ takeOut: id, signature }, 'nobody can say by the chain alone whether a take-out landed')
  return undecidedMs
}
