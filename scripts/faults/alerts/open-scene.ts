import { migrateToLatest } from '../../../src/platform/database/migrations/migrate.js'
import { freePort } from '../../dev/ports.js'
import { startPostgres } from '../../dev/postgres/postgres.js'
import { recordBeginning } from '../month/operator.js'
import { openStage } from '../month/stage.js'
import { startRedis } from '../outages/redis.js'
import { agreeAboveDollars, startDenyingNode } from './denying-node.js'
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
  const node = await startDenyingNode()
  const servers = { databaseUrl, redisUrl: redis.url, namespace: `alerts-${seed}` }
  const stage = await openStage(servers, seed, creators, {
    metrics: true,
    restarts: true,
    env: ({ url, aggregator }) => ({
      PAYOUT_HOURLY_NGN: '600000',
      PAYOUT_DAILY_NGN: '60000000',
      AGGREGATOR_ULTRA_URL: `${url}/ultra/v1`,
      AGGREGATOR_V6_URL: `${url}/swap/v1`,
      AGGREGATOR_REFERRAL_ACCOUNT: aggregator.referralAccount,
    }),
    envOf: (name, { url, chain }): Record<string, string> => {
      // What expired is undecided only where one endpoint may have lost it.
      if (name === 'custodian') return { SOLANA_RPC_URLS: url }
      if (name !== 'verifier') return {}
      node.show(chain)
      return { SOLANA_RPC_URLS: `${url},${node.url}`, AGREE_ABOVE_USD: String(agreeAboveDollars) }
    },
  })
  const scene = new Scene(stage, {
    node,
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
    await node.close()
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
