import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { BatchSteps, numbered, type Step } from '../helpers/batch-steps.js'
import { follow } from '../helpers/http/stream-reader.js'
import { payTip, postTip, type TipClaim } from '../helpers/make/chain-tips.js'
import { stampsOf } from '../helpers/make/confirmed-tips.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { type ServiceProcess, startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { watchPostgres, watchRpc } from '../helpers/steps.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** Killed after these too: they have happened and nobody was told. After a read, it is as before the next step. */
const writes = new Set(['tips.take', 'parties.insert', 'commit', 'tips.fill-message', 'tips.finish'])

/**
 * Work for every step a batch has: a tip somebody else claims differently (its claim is disproved), one to a wallet
 * not seen before (it becomes a party), a signature nobody finds (it is put off), and a message for a tip
 * confirmed before (it is filled in). Returns the tip to `wallet`.
 */
async function recordRound(wallet: string, former: TipClaim | undefined): Promise<TipClaim> {
  const { sandbox, services, url } = world()
  const tip = payTip(sandbox, wallet)
  const first = payTip(sandbox, strangerWallet())
  const stranger = { ...tip, senderWallet: strangerWallet() }
  const unknown = { ...tip, txSignature: encodeBase58(randomBytes(64)) }
  const late = former === undefined ? [] : [{ ...former, message: 'thank you' }]
  for (const claim of [tip, first, stranger, unknown, ...late]) {
    const { status, body } = await postTip(url, claim)
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

/** As the lease's half minute passing would. */
async function letLeasesEnd(): Promise<void> {
  await world().db.raw(`update tips set due_at = clock_timestamp() where due_at is not null`)
}

async function startWatched(t: ExecutionContext, steps: BatchSteps): Promise<() => Promise<ServiceProcess>> {
  const { env } = world()
  const settings = {
    ...env,
    DATABASE_URL: await watchPostgres(t, env['DATABASE_URL'] ?? '', steps.atStep),
    SOLANA_RPC_URLS: await watchRpc(t, env['SOLANA_RPC_URLS'] ?? '', steps.atStep),
  }
  return () => startWorkerProcess(t, 'verifier', settings)
}

test('a verifier killed at any step of a batch confirms every tip once, and its readers see it once', async (t) => {
  t.timeout(150_000)
  const { db, url } = world()
  const steps = new BatchSteps('tips.take', 'tips.finish')
  const start = await startWatched(t, steps)
  const wallet = strangerWallet()
  const reader = await follow(t, url, wallet)

  /** One round, which the verifier takes up in one batch. */
  async function round(former: TipClaim | undefined, prepare: () => void): Promise<TipClaim> {
    steps.hold()
    await until('a batch waits', () => steps.waiting)
    const tip = await recordRound(wallet, former)
    await letLeasesEnd()
    prepare()
    steps.release()
    return tip
  }
  const isConfirmed = async (tip: TipClaim): Promise<boolean> => (await statusOf(tip)) === 'confirmed'
  const firstVerifier = await start()
  const tips = [await round(undefined, () => undefined)]
  await until('the first tip is confirmed', () => isConfirmed(tips[0] as TipClaim))

  // One batch nobody disturbs says which steps there are.
  tips.push(await round(tips[0], () => undefined))
  const isWhole = (batch: Step[]): boolean =>
    batch.some(({ label }) => label === 'tips.fill-message') && batch.at(-1)?.label === 'tips.finish'
  await until('a batch has done all of it', () => steps.batches.some(isWhole))
  const walk = steps.batches.find(isWhole) ?? []
  t.log(
    walk
      .filter(({ phase }) => phase === 'before')
      .map(({ label }) => label)
      .join(', '),
  )
  let verifier = firstVerifier
  const killedAt: string[] = []
  for (const step of numbered(walk)) {
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
    killedAt.push(nameOf(steps.batches.at(-1)?.at(-1)))
    await letLeasesEnd()
    verifier = await start()
    await until(`the tip is confirmed that met a kill ${step.phase} ${step.label}`, () => isConfirmed(tip))
  }
  // What becomes final by the clock is not in every batch; these steps are.
  for (const label of ['parties.insert', 'tips.disprove', 'commit', 'tips.fill-message', 'getTransaction'])
    t.true(killedAt.includes(`before ${label}`), label)
  for (const label of writes) t.true(killedAt.includes(`after ${label}`), label)
  const stamps = await stampsOf(db, wallet)
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
