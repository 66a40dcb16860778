import test, { type ExecutionContext } from 'ava'
import { createRoles } from '../../scripts/database/create-roles.js'
import { withConnection } from '../../scripts/dev/postgres/session.js'
import { createOwners } from '../../scripts/faults/webhooks.js'
import { redisUrlWith } from '../../scripts/kit/service-settings.js'
import { startTcpProxy } from '../../scripts/kit/tcp-proxy.js'
import { createApiKey } from '../../src/creators/api-keys.js'
import { newestSequence } from '../../src/events/read-events.js'
import { migrateToLatest } from '../../src/platform/database/migrations/migrate.js'
import { createReadPool, untilReplayed } from '../../src/platform/database/read-pool.js'
import { markSeen } from '../../src/platform/database/restore-guard.js'
import { createClient } from '../helpers/http/client.js'
import { openStream } from '../helpers/http/stream-reader.js'
import { createConfirmedSolTips } from '../helpers/make/confirmed-tips.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { privatePostgres, privateStandby } from '../helpers/servers/private-postgres.js'
import { openOwnersPool } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test)

test('a standby serves reads once it has replayed what was committed before, and whatever happens to it nobody is shown less', async (t) => {
  t.timeout(180_000)
  const primary = await privatePostgres(t)
  const url = primary.running.url('postgres')
  await migrateToLatest(url)
  await createRoles(url)
  const standby = await privateStandby(t, primary)
  const address = await startTcpProxy(standby.running.url('postgres'))
  t.teardown(address.close)
  const stage = await openStage(t, url, address.url)
  const { give, read, readUntil, endRead } = stage
  await give()
  await readUntil('served')
  await give()
  await read()
  await readUntil('served')

  const onStandby = (sql: string) =>
    withConnection(standby.running.url('postgres'), async (client) => (await client.query(sql)).rows[0])
  await onStandby('select pg_wal_replay_pause()')
  const isPaused = async () =>
    (await onStandby('select pg_get_wal_replay_pause_state() as s'))?.s === 'paused'
  await until('the replay stands still', isPaused)
  await give()
  await read()
  await readUntil('behind')
  await give()
  await read()
  await onStandby('select pg_wal_replay_resume()')
  await readUntil('served')

  address.hold(true)
  await readUntil('failed')
  address.hold(false)
  await readUntil('served')

  await endRead('failed', (db) => db.raw(`do $$ begin raise exception 'x' using errcode = '40001'; end $$`))
  await endRead('failed', (db) => db.raw('select pg_terminate_backend(pg_backend_pid())'))
  await endRead('slow', (db) => db.raw('select pg_sleep(60)'))
  await endRead('failed', async (db) => {
    await standby.running.kill()
    await db.raw('select 1')
  })
  await give()
  await read()
  await readUntil('failed')
  const again = await standby.startAgain()
  await readUntil('served')

  const other = openOwnersPool(t, { ...stage.env, DATABASE_URL: again.url('postgres') })
  const message = 'it is no standby of the primary as that is now'
  await t.throwsAsync(untilReplayed(other, { lsn: '0/0', history: '1/1' }), { message })
  await onStandby('select pg_promote()')
  await t.throwsAsync(untilReplayed(other, { lsn: '0/0', history: null }), { message })
  await other.raw('update tips set listed = false')
  await give()
  await read()
  await readUntil('not_standby')
})

/** A creator whose tips are confirmed through a process of its own, and who reads them through a web process with a standby. */
async function openStage(t: ExecutionContext, url: string, standbyUrl: string) {
  const env = {
    ...world().env,
    DATABASE_URL: url,
    DATABASE_READ_URL: standbyUrl.replace('postgres@', ''),
    REDIS_URL: redisUrlWith(world().env['REDIS_URL'] ?? '', { namespace: 'reads' }),
  }
  const { services, url: webUrl } = await startApp(t, env)
  const request = await createClient(webUrl)
  const db = openOwnersPool(t, env)
  await markSeen(db)
  const verifier = { ...services, db, transact: services.transactOn(db) }
  const wallet = unusedWallet()
  const [userId = ''] = await createOwners(verifier, 1)
  await db('parties').insert({ user_id: userId, wallet })
  const { apiKey } = await createApiKey(services, userId, undefined)
  const given: string[] = []
  // Before the last tip.
  let after = 0
  let stamp = 0
  const count = async (standby: string): Promise<number> =>
    (await services.metrics.reads.get()).values.find(({ labels }) => labels['standby'] === standby)?.value ??
    0

  /** Reads the lists, the newest event after a cursor, and a stream that comes back. Each shows every tip, by whatever it was served. */
  async function read(): Promise<void> {
    const list = await request<{ tips: { signature: string }[] }>('GET', `/chain/tips?address=${wallet}`)
    t.deepEqual(list.body.tips.map(({ signature }) => signature).sort(), [...given].sort())
    const path = `/creators/events?after=${after}&types=tip.confirmed`
    const events = await request<{ events: { data: { signature: string } }[] }>('GET', path, {
      bearer: apiKey,
    })
    t.deepEqual(
      events.body.events.map(({ data }) => data.signature),
      given.slice(-1),
    )
    const sdk = await request<{ events: unknown[] }>('GET', `/sdk/events?creatorId=${userId}`, {
      bearer: apiKey,
    })
    t.is(sdk.body.events.length, given.length)
    const stream = openStream(webUrl, wallet, String(stamp - 1))
    await until('the stream has caught up', () => stream.tips.some(({ id }) => id === stamp))
    stream.close()
  }

  return {
    env,
    async give(): Promise<void> {
      after = await newestSequence(db, userId)
      given.push(...(await createConfirmedSolTips(verifier, [wallet])))
      const [row] = await db('tips').max({ at: 'confirmed_at' })
      stamp = (row as { at: Date }).at.getTime()
    },
    read,
    async readUntil(standby: string): Promise<void> {
      const before = await count(standby)
      await until(`a read is counted as ${standby}`, async () => {
        await read()
        return (await count(standby)) > before
      })
    },
    /** Ends a read on the standby in its middle: it is repeated on the primary. */
    async endRead(as: string, end: (db: typeof services.db) => Promise<unknown>): Promise<void> {
      const { db: primary, log, metrics, config } = services
      const onRead = (by: string): void => metrics.reads.inc({ standby: by })
      const { standby } = config.database
      if (standby === undefined) throw new Error('there is no standby')
      // One that has not been left alone yet.
      const pool = createReadPool({ primary, probe: primary, standby, pool: 2, onRead, log })
      t.teardown(pool.close)
      const before = await count(as)
      await until(`a read is counted as ${as}`, async () => {
        const rows = await pool.reads(async (reader) => {
          if (reader.isTransaction) await end(reader)
          return reader('users').select('id')
        })
        t.deepEqual(rows, [{ id: userId }])
        return (await count(as)) > before
      })
    },
  }
}
