import { once } from 'node:events'
import { createApp } from '../../../src/app.js'
import { type Composed, compose } from '../../../src/compose.js'
import { createHttpServer } from '../../../src/http/server.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { workers } from '../../../workers/registry.js'
import { freePort } from '../../dev/ports.js'
import { type Creator, createFundedCreator } from '../../kit/client.js'
import type { Defer } from '../../kit/closing.js'
import { OperatorCommands } from '../../kit/operator-commands.js'
import type { ServerUrls } from '../../kit/servers.js'
import { serviceSettings } from '../../kit/service-settings.js'
import type { Fault } from '../../sandbox/fiatpay/faults.js'
import { closeServer } from '../../sandbox/http-server.js'
import { type Sandbox, startSandbox } from '../../sandbox/server.js'
import { sandboxSettings } from '../../sandbox/service-settings.js'

/** Naira per dollar at the beginning. The acts change it. */
export const nairaPerDollar = 1600
/** More than anybody withdraws. */
export const fundedMicro = 1_000_000n * 1_000_000n
/** A wallet for which the local chain opens the accounts of fees. */
const treasury = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy'

const kinds = ['payouts', 'reconciler', 'settlement'] as const

/** The app and the stand-ins in this process, with the batches of the workers. */
export interface Stage {
  readonly url: string
  readonly services: Composed
  readonly sandbox: Sandbox
  /** How the provider behaves between the acts. */
  readonly fault: Fault
  readonly creators: Creator[]
  readonly batches: Readonly<Record<(typeof kinds)[number], Batch>>
  readonly commands: OperatorCommands
  addCreator(): Promise<void>
}

/** `deduplicates`: the provider refuses a used reference, and the service's settings say so. */
export async function openStage(defer: Defer, servers: ServerUrls, deduplicates: boolean): Promise<Stage> {
  const sandbox = await startSandbox({ port: 0, slotMs: 0, treasury })
  defer(() => sandbox.close())
  const { fiatpay } = sandbox
  const fault: Fault = { transfers: 'manual', duplicates: deduplicates ? 'refuse' : 'execute' }
  sandbox.rates.set({ NGN: nairaPerDollar })
  fiatpay.faults.setFault(fault)
  fiatpay.faults.setMode({ refunds: 'manual' })
  const port = await freePort()
  const env = {
    ...serviceSettings(servers),
    ...sandboxSettings(sandbox, treasury),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    FIATPAY_DEDUPLICATES: String(deduplicates),
    LOG_LEVEL: 'silent',
    // No act lets the provider hang, so a slow machine causes no unknown outcome.
    PAYOUT_SECONDS: '20,0.05,0.1',
    WITHDRAW_WAIT_MS: '0',
    IDENTITY_SINGLE_NGN: '50000',
  }
  const services = compose(loadConfig(env), 'acts')
  defer(() => services.close())
  const app = createApp(services)
  const server = createHttpServer(app.koa.callback())
  await once(server.listen(port, '127.0.0.1'), 'listening')
  defer(async () => {
    const closed = closeServer(server)
    await app.close()
    server.closeAllConnections()
    await closed
  })
  const url = `http://127.0.0.1:${port}`
  fiatpay.webhooks.setUrl(`${url}/webhooks/fiatpay`)
  const commands = new OperatorCommands(env)
  defer(() => commands.close())
  const creators: Creator[] = []
  return {
    url,
    services,
    sandbox,
    fault,
    creators,
    commands,
    batches: Object.fromEntries(kinds.map((kind) => [kind, workers[kind].createBatch(services)])) as Record<
      (typeof kinds)[number],
      Batch
    >,
    async addCreator() {
      creators.push(await createFundedCreator(services.db, url, fundedMicro))
    },
  }
}
