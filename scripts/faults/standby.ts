import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { withConnection } from '../dev/postgres/session.js'
import { waitUntil } from '../dev/wait-until.js'
import { type DebianPostgres, startPrimary } from '../kit/debian-postgres.js'
import { startRedis } from '../kit/servers.js'
import { startTcpProxy } from '../kit/tcp-proxy.js'
import type { Disturbance, OpenScenario } from './world/run-scenario.js'

/** Until somebody, or a program, has noticed that the primary is gone. */
const noticedMs = 2000
const streamsMs = 60_000
/** The alarm `database_restored` wakes a person after two minutes. */
const acceptedMs = 120_000

/**
 * A synchronous standby. The primary is killed or stopped, the standby is promoted, and the service's connections are moved to it: its
 * own address stays, as behind a floating address. Then a new standby is made, under load.
 */
export const standby: OpenScenario = async ({ folder, report, defer }) => {
  const { primary: first, nextFolder } = await startPrimary(folder, defer)
  let primary = first
  defer(() => primary.kill())
  let second = await attachStandby(primary, nextFolder())
  defer(() => second.kill())
  const address = await startTcpProxy(primary.url)
  defer(() => address.close())
  const accepting: Promise<number | undefined>[] = []

  /** The standby takes over, and the service finds it under the old address. */
  const takeover = (how: 'killed' | 'stopped'): Disturbance => ({
    name: `primary ${how}, standby promoted`,
    async act({ stage }) {
      if (second === primary) second = await attachStandby(primary, nextFolder())
      await (how === 'killed' ? primary.kill() : primary.stop())
      await sleep(noticedMs)
      await second.promote()
      const failed = primary
      primary = second
      address.moveTo(primary.url)
      address.cut()
      accepting.push(acceptedAfter(stage.db))
      await failed.kill()
    },
  })
  const lose: Disturbance = {
    name: 'standby killed, commits wait for it',
    async act(_, draw) {
      if (second === primary) second = await attachStandby(primary, nextFolder())
      await second.kill()
      await sleep(noticedMs * 2 * draw.next())
      await second.start()
    },
  }
  return {
    databaseUrl: address.url,
    redisUrl: await startRedis(folder, defer),
    disturbances: [takeover('killed'), takeover('stopped'), lose],
    async check() {
      const times = await Promise.all(accepting)
      report(`payouts ran again after a takeover in ms: ${times.join(', ')}`)
      return times.includes(undefined)
        ? [`payouts did not run again within ${acceptedMs / 1000} s after a takeover`]
        : []
    },
  }
}

/** Makes a standby from a running primary and has every commit wait for it. When it is promoted it waits for none. */
async function attachStandby(primary: DebianPostgres, folder: string): Promise<DebianPostgres> {
  const made = await primary.copy(folder)
  await made.start()
  await withConnection(primary.url, async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
    const isSync = async (): Promise<boolean> =>
      (await client.query(`select from pg_stat_replication where sync_state = 'sync'`)).rowCount === 1
    if (!(await waitUntil(isSync, streamsMs))) throw new Error('the standby does not stream')
  })
  return made
}

/** How long it takes until the rows count as the same database again, so that payouts are sent. */
async function acceptedAfter(db: Knex): Promise<number | undefined> {
  const startedAt = Date.now()
  const isKnown = (): Promise<boolean> =>
    db.raw('select database_state() as state').then(
      ({ rows }) => rows[0]?.state === 'known',
      () => false,
    )
  return (await waitUntil(isKnown, acceptedMs)) ? Date.now() - startedAt : undefined
}
