import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createProvisionerBatch } from '../../../src/accounts/wallets/provision-wallets.js'
import { createApp } from '../../../src/app.js'
import { type Composed, compose } from '../../../src/compose.js'
import { createHttpServer } from '../../../src/http/server.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { workers } from '../../../workers/registry.js'
import { freePort } from '../../dev/ports.js'
import { type FiatSandbox, startFiatSandbox } from '../../sandbox/fiat-sandbox.js'
import { closeServer } from '../../sandbox/http-server.js'
import { type Creator, createFundedCreator } from '../client.js'
import { serviceSettings } from '../settings.js'

/** Naira per dollar, the same during the whole run. */
export const nairaPerDollar = 1600
/** More than anybody withdraws. */
export const fundedMicro = 1_000_000n * 1_000_000n

export interface ServerAddresses {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly namespace: string
}

/** The app and the provider in this process, with the batches of the workers. */
export interface Stage {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  readonly services: Composed
  readonly fiat: FiatSandbox
  readonly creators: Creator[]
  readonly batches: Readonly<Record<'payouts' | 'reconciler' | 'settlement', Batch>>
  addCreator(): Promise<void>
  close(): Promise<void>
}

export async function openStage(servers: ServerAddresses): Promise<Stage> {
  const fiat = await startFiatSandbox()
  fiat.rates.set({ NGN: nairaPerDollar })
  const port = await freePort()
  const env = {
    ...serviceSettings(servers, fiat, port, true),
    LOG_LEVEL: 'silent',
    PAYOUT_LOOK_SECONDS: '0.05',
    PAYOUT_SETTLE_SECONDS: '0.1',
    WITHDRAW_WAIT_MS: '0',
    IDENTITY_SINGLE_NGN: '50000',
  }
  const services = compose(loadConfig(env), 'acts')
  const app = createApp(services)
  const server = createHttpServer(app.koa.callback())
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${port}`
  fiat.fiatpay.webhooks.setUrl(`${url}/webhooks/fiatpay`)
  const provision = createProvisionerBatch({ ...services, vault: createConfiguredVault(randomBytes(32)) })
  const creators: Creator[] = []
  return {
    url,
    env,
    services,
    fiat,
    creators,
    batches: {
      payouts: workers.payouts.createBatch(services),
      reconciler: workers.reconciler.createBatch(services),
      settlement: workers.settlement.createBatch(services),
    },
    async addCreator() {
      creators.push(await createFundedCreator(services.db, url, fundedMicro))
      await provision()
    },
    async close() {
      await fiat.close()
      const closed = closeServer(server)
      await app.close()
      server.closeAllConnections()
      await closed
      await services.close()
    },
  }
}
