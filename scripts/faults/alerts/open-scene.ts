import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { freePort } from '../../dev/ports.js'
import { startPostgres } from '../../dev/postgres/postgres.js'
import { recordBeginning } from '../month/operator.js'
import { openStage } from '../month/stage.js'
import { startRedis } from '../outages/redis.js'
import { Scene } from './scene.js'

const creators = 4
const tipsEach = 4
const tipDollars = 200

/** Starts the whole service, with creators who have money. */
export async function openScene(
  folder: string,
  seed: number,
): Promise<{ scene: Scene; close(): Promise<void> }> {
  const options = { dataDir: folder, port: await freePort() }
  let postgres = await startPostgres(options)
  const redisPort = await freePort()
  let redis = await startRedis(folder, redisPort)
  const databaseUrl = postgres.url('postgres')
  await migrateToLatest(databaseUrl)
  const servers = { databaseUrl, redisUrl: redis.url, namespace: `alerts-${seed}` }
  const stage = await openStage(servers, seed, creators, {
    metrics: true,
    restarts: true,
    env: () => ({ PAYOUT_HOURLY_NGN: '600000', PAYOUT_DAILY_NGN: '60000000' }),
    // What expired is undecided only where one endpoint may have lost it.
    envOf: (name, sandbox): Record<string, string> =>
      name === 'custodian' ? { SOLANA_RPC_URLS: sandbox.url } : {},
  })
  const scene = new Scene(stage, {
    postgres: {
      kill: () => postgres.kill(),
      async start() {
        postgres = await startPostgres(options)
        return postgres
      },
    },
    redis: {
      stop: () => redis.stop(),
      async start() {
        redis = await startRedis(folder, redisPort)
      },
    },
  })
  const close = async (): Promise<void> => {
    await stage.close()
    await redis.stop()
    await postgres.stop()
  }
  try {
    stage.sandbox.fiatpay.faults.setFault({})
    await recordBeginning(stage)
    const signatures = []
    for (let n = 0; n < creators; n++)
      for (let tips = 0; tips < tipsEach; tips++)
        signatures.push(await scene.tip(scene.creator(n), tipDollars))
    for (const one of signatures)
      await scene.until('the first tips are final', async () => {
        await scene.due('tips', 'finalized_at is null')
        return (await scene.tipStatus(one))?.finalized_at != null
      })
    return { scene, close }
  } catch (error) {
    await close()
    throw error
  }
}
