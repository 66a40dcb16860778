import type { ExecutionContext } from 'ava'
import type { RoleKind } from '../../../scripts/database/table-rights.js'
import type { TcpProxy } from '../../../scripts/kit/tcp-proxy.js'
import type { Composed } from '../../../src/compose.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { tcpProxyFor } from '../proxies/tcp-proxy.js'
import { type AtStep, watchPostgresSteps, watchRpcSteps } from '../proxies/watch-steps.js'
import { composeAs } from './roles.js'

interface MortalWork {
  /** The settings. */
  readonly env: Readonly<Record<string, string>>
  readonly kind: RoleKind
  /** The label of the first step of a batch: what opens a connection is none. */
  readonly taking: string
  readonly batchesOf: (services: Composed) => readonly Batch[]
}

/**
 * Runs each batch of a new worker once. At the step `diesAt` the worker is killed: nothing of it reaches a server from there on, and no
 * answer reaches it. So it ends as a killed process does, without the second that a process needs to start.
 *
 * Returns the steps that it came to, as `before commit 2`: the second commit had not reached the server. The next worker knows nothing
 * of it.
 */
export async function runMortal(
  t: ExecutionContext,
  { env, kind, taking, batchesOf }: MortalWork,
  diesAt?: string,
): Promise<readonly string[]> {
  const steps: string[] = []
  const times = new Map<string, number>()
  const wires: TcpProxy[] = []
  let dead = false
  const atStep: AtStep = async (label, phase) => {
    if (dead || (steps.length === 0 && label !== taking)) return !dead
    const step = `${phase} ${label}`
    const nth = (times.get(step) ?? 0) + 1
    times.set(step, nth)
    steps.push(`${step} ${nth}`)
    if (`${step} ${nth}` !== diesAt) return true
    dead = true
    for (const wire of wires) {
      wire.refuse(true)
      wire.cut()
    }
    return false
  }
  const { DATABASE_URL = '', REDIS_URL = '', FIATPAY_URL = '', SOLANA_RPC_URLS = '' } = env
  const [database, redis, provider] = [
    await watchPostgresSteps(t, DATABASE_URL, atStep),
    await tcpProxyFor(t, REDIS_URL),
    await tcpProxyFor(t, FIATPAY_URL),
  ]
  wires.push(database, redis, provider)
  const services = composeAs(kind, {
    ...env,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    FIATPAY_URL: provider.url,
    SOLANA_RPC_URLS: await watchRpcSteps(t, SOLANA_RPC_URLS, atStep),
  })
  for (const batch of batchesOf(services)) await batch().catch(() => undefined)
  await services.close()
  if (diesAt !== undefined && !dead) throw new Error(`it never came to ${diesAt}: ${steps.join(', ')}`)
  return steps
}
