import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { follow } from '../helpers/http/stream-reader.js'
import { confirmedStamps } from '../helpers/make/confirmed-tips.js'
import { payOnChain, postClaim, type TipClaim } from '../helpers/make/landed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { watchPostgresSteps, watchRpcSteps } from '../helpers/proxies/watch-steps.js'
import { BatchSteps, numberSteps, type Step } from '../helpers/servers/batch-steps.js'
import { type ServiceProcess, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** The verifier is also killed right after these writes. A kill after a read equals one before the next step. */
const writes = new Set(['tips.take', 'parties.insert', 'commit', 'tips.fill-message', 'tips.finish'])

/**
 * Records work for every step of a batch: a tip with a second, different claim (which is disproved), a tip to a new wallet
 * (which becomes a party), a signature that is not found (which is rescheduled), and a message for a tip that is confirmed
 * already (which is backfilled). Returns the tip to `wallet`.
 */
async function recordRound(wallet: string, former: TipClaim | undefined): Promise<TipClaim> {
  const { sandbox, services, url } = world()
  const tip = payOnChain(sandbox, wallet)
  const first = payOnChain(sandbox, unusedWallet())
  const stranger = { ...tip, senderWallet: unusedWallet() }
  const unknown = { ...tip, txSignature: encodeBase58(randomBytes(64)) }
  const late = former === undefined ? [] : [{ ...former, message: 'thank you' }]
  for (const claim of [tip, first, stranger, unknown, ...late]) {
    const { status, body } = await postClaim(url, claim)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  const signatures = [tip.txSignature, first.txSignature]
  await until('the chain has confirmed them', async () => {
    const statuses = await services.chain.statuses(signatures)
    return signatures.every((signature) =>
      /confirmed|finalized/.test(statuses.get(signature)?.commitment ?? ''),
    )
  })
  return tip
}

async function statusOf({ txSignature }: TipClaim): Promise<string> {
  return (await world().db('tips').where({ id: txSignature }).first()).status
}

function nameOf(step: Step | undefined): string {
  return `${step?.phase} ${step?.label}`
}

/** Instead of waiting for the leases to end. */
async function endLeases(): Promise<void> {
  await world().db.raw(`update tips set due_at = clock_timestamp() where due_at is not null`)
}

async function startWatched(t: ExecutionContext, steps: BatchSteps): Promise<() => Promise<ServiceProcess>> {
  const { env } = world()
  const settings = {
    ...env,
    DATABASE_URL: await watchPostgresSteps(t, env['DATABASE_URL'] ?? '', steps.atStep),
    SOLANA_RPC_URLS: await watchRpcSteps(t, env['SOLANA_RPC_URLS'] ?? '', steps.atStep),
  }
  return () => startWorkerProcess(t, 'verifier', settings)
}

test('a verifier that is killed at any step of a batch confirms every tip once, and stream readers get it once', async (t) => {
  t.timeout(150_000)
  const { db, url } = world()
  const steps = new BatchSteps('tips.take', 'tips.finish')
  const start = await startWatched(t, steps)
  const wallet = unusedWallet()
  const reader = await follow(t, url, wallet)

  /** Records one round, which the verifier handles in one batch. */
  async function round(former: TipClaim | undefined, prepare: () => void): Promise<TipClaim> {
    steps.hold()
    await until('a batch waits', () => steps.waiting)
    const tip = await recordRound(wallet, former)
    await endLeases()
    prepare()
    steps.release()
    return tip
  }
  const isConfirmed = async (tip: TipClaim): Promise<boolean> => (await statusOf(tip)) === 'confirmed'
  const firstVerifier = await start()
  const tips = [await round(undefined, () => undefined)]
  await until('the first tip is confirmed', () => isConfirmed(tips[0] as TipClaim))

  // One undisturbed batch shows which steps there are.
  tips.push(await round(tips[0], () => undefined))
  const isWhole = (batch: Step[]): boolean =>
    batch.some(({ label }) => label === 'tips.fill-message') && nameOf(batch.at(-1)) === 'after tips.finish'
  await until('a batch has done every step', () => steps.batches.some(isWhole))
  const wholeBatch = steps.batches.find(isWhole) ?? []
  t.log(
    wholeBatch
      .filter(({ phase }) => phase === 'before')
      .map(({ label }) => label)
      .join(', '),
  )
  let verifier = firstVerifier
  const killedAt: string[] = []
  for (const step of numberSteps(wholeBatch)) {
    if (step.phase === 'after' && !writes.has(step.label)) continue
    const victim = verifier
    const tip = await round(tips.at(-1), () =>
      steps.killAt(step, async () => {
        victim.signal('SIGKILL')
        await victim.ended
      }),
    )
    tips.push(tip)
    t.is(await victim.ended, 'SIGKILL')
    // Not the last step that was seen: statements of one batch run side by side.
    killedAt.push(nameOf(step))
    await endLeases()
    verifier = await start()
    await until(`the tip is confirmed after a kill ${step.phase} ${step.label}`, () => isConfirmed(tip))
  }
  // Every batch has these steps. Finalizing depends on the time and is not in every batch.
  for (const label of ['parties.insert', 'tips.disprove', 'commit', 'tips.fill-message', 'getTransaction'])
    t.true(killedAt.includes(`before ${label}`), label)
  for (const label of writes) t.true(killedAt.includes(`after ${label}`), label)
  const stamps = await confirmedStamps(db, wallet)
  t.is(stamps.length, tips.length)
  t.is(new Set(stamps).size, tips.length)
  await until('the reader has every tip', () => reader.tips.length >= tips.length)
  t.deepEqual(
    reader.tips.map(({ id }) => id),
    stamps,
  )
  const unfilled = await db('tips')
    .whereIn(
      'id',
      tips.slice(0, -1).map(({ txSignature }) => txSignature),
    )
    .whereNull('message')
  t.is(unfilled.length, 0, 'every late message was filled in')
})
