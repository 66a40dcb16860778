import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateToLatest } from '../../../../src/platform/database/migrations/migrate.js'
import { Refusal } from '../../../bootstrap/progress.mjs'
import { DebianPostgres, folderForServer } from '../debian-postgres.js'
import { startRedis } from '../redis.js'
import type { Disturbance, Scenario } from '../scenario.js'

const diskBytes = 192 * 1024 * 1024
const pieceBytes = 64 * 1024
const leastFullMs = 4000
const mostFullMs = 10_000
const restartMs = 1000

/** The disk of PostgreSQL's data fills up, and is freed again. Nobody but a supervisor starts PostgreSQL again. */
export const diskFull: Scenario = async ({ folder, report }) => {
  const disk = mountSmallDisk(folder)
  const redis = await startRedis(folder)
  // Small files of the log, so that the next one is soon needed.
  const postgres = await DebianPostgres.create(
    folderForServer(disk, 'data'),
    `${folderForServer(folder, 'logs')}/postgres.log`,
    { flags: ['-c', 'max_wal_size=16MB', '-c', 'min_wal_size=2MB'], initdb: ['--wal-segsize=1'] },
  )
  await postgres.start()
  await migrateToLatest(postgres.url)
  let supervised = true
  let starts = 0
  const supervising = (async () => {
    for (; supervised; await sleep(restartMs)) {
      if (postgres.runs) continue
      starts += 1
      await postgres.start().catch(() => undefined)
    }
  })()
  const ballast = join(disk, 'ballast')

  const fill = (name: string, freeBytes: (share: number) => number): Disturbance => ({
    name,
    async act({ notes }, draw) {
      const before = notes.count
      fillDisk(disk, ballast, Math.floor(freeBytes(draw.next())))
      await sleep(leastFullMs + (mostFullMs - leastFullMs) * draw.next())
      rmSync(ballast)
      report(`full: ${notes.count - before} answers, PostgreSQL was started again ${starts} times so far`)
    },
  })
  return {
    servers: { databaseUrl: postgres.url, redisUrl: redis.url },
    disturbances: [
      fill('disk filled to the last byte', () => 0),
      fill('disk almost full, and filled by the load', (share) => share * 1024 * 1024),
    ],
    async close() {
      supervised = false
      await supervising
      await redis.stop()
      await postgres.kill()
      spawnSync('umount', [disk])
    },
  }
}

/** Only root may mount. */
function mountSmallDisk(folder: string): string {
  const disk = folderForServer(folder, 'disk')
  const { status, stderr } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${diskBytes},mode=711`, 'tipping-outage', disk],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Refusal(`disk-full mounts a small disk and needs root: ${stderr.trim()}`)
  return disk
}

/** Fills the disk but for so many bytes. */
function fillDisk(disk: string, file: string, freeBytes: number): void {
  if (existsSync(file)) rmSync(file)
  const handle = openSync(file, 'w')
  const piece = Buffer.alloc(pieceBytes)
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(disk)
      const left = bavail * bsize - freeBytes
      if (left <= 0) return
      writeSync(handle, piece, 0, Math.min(left, pieceBytes))
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  } finally {
    closeSync(handle)
  }
}
