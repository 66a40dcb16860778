import test, { type ExecutionContext } from 'ava'
import { compose } from '../../src/compose.js'
import { loadConfig } from '../../src/platform/config.js'
import { createDrainLoop } from '../../src/platform/drain-loop.js'
import { createVerifierDrain } from '../../src/tips/verify.js'
import { landTips, unconfirmed } from '../helpers/landed.js'
import { storedTip } from '../helpers/tips.js'
import { until } from '../helpers/until.js'
import { type Wire, wireFor } from '../helpers/wire.js'
import { useWorld } from '../helpers/world.js'

const world = useWorld(test, { chain: true })

/** A call is given ten seconds; behind that a look like any other, on a loaded machine. */
const boundMs = 15_000

/** A node that takes connections and says nothing. */
async function hungNode(t: ExecutionContext): Promise<Wire> {
  const wire = await wireFor(t, world().sandbox.url)
  wire.hold(true)
  return wire
}

/** A verifier at work with these nodes. Returns the failures of its drains. */
function startVerifier(t: ExecutionContext, nodes: readonly string[]): readonly unknown[] {
  const services = compose(loadConfig({ ...world().env, SOLANA_RPC_URLS: nodes.join(',') }), 'test')
  const failures: unknown[] = []
  const loop = createDrainLoop(createVerifierDrain(services), (error) => failures.push(error))
  t.teardown(async () => {
    await loop.stop()
    await services.close()
  })
  void loop.poke()
  return failures
}

const areConfirmed = (signatures: readonly string[]) => async () =>
  (await unconfirmed(world(), signatures)).length === 0

test.serial('tips are confirmed through the second node while the first one hangs', async (t) => {
  t.timeout(60_000)
  const { url } = await hungNode(t)
  const first = await landTips(world(), 20)
  const startedAt = performance.now()
  const failures = startVerifier(t, [url, world().sandbox.url])
  await until('they are confirmed', areConfirmed(first), boundMs)
  t.log(`confirmed after ${Math.round(performance.now() - startedAt)} ms`)
  const next = await landTips(world(), 20)
  await until('the next ones do not wait for the hung node again', areConfirmed(next), boundMs / 3)
  t.deepEqual(failures, [])
})

test.serial('tips wait while the only node hangs, and are confirmed when it answers again', async (t) => {
  t.timeout(90_000)
  const node = await hungNode(t)
  const signatures = await landTips(world(), 20)
  const failures = startVerifier(t, [node.url])
  await until('a look has failed', () => failures.length > 0, boundMs)
  for (const signature of signatures)
    t.like(await storedTip(world(), signature), { status: 'pending', outcome: null, slot: null })
  node.hold(false)
  // The look that hangs already may have to run into its end first.
  await until('they are confirmed', areConfirmed(signatures), boundMs)
})
