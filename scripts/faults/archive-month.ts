import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { Composed } from '../../src/compose.js'
import { query } from '../../src/platform/database/database.js'
import { listPartitions, makePartitions } from '../../src/platform/database/partitions.js'
import { opsProgram } from '../bootstrap/ops.mjs'
import { startLogged } from '../kit/service-process.js'

const folder = '.data/faults/archive'
const logFile = '.data/faults/archive.log'
const monthsAgo = 3
const rowsEach = 50_000

/** Writes events of a month that is over, of an account that nobody reads. Returns the month's name. */
export async function fillOldMonth({ db }: Composed, userId: string, rows: number): Promise<string> {
  for (let first = 1; first <= rows; first += rowsEach) {
    await query(db, {
      name: 'faults.old-events',
      text: /* sql */ `
        insert into events (user_id, sequence, type, subject, data, recorded_at)
        select $1, n, 'ping', n::text, jsonb_build_object('n', n, 'text', sha256(n::text::bytea)::text),
          date_trunc('month', now(), 'UTC') - $4::int * interval '1 month' + n * interval '1 millisecond'
        from generate_series($2::int, $3::int) n`,
      values: [userId, first, Math.min(first + rowsEach - 1, rows), monthsAgo],
    })
    // The first ones make the month's partition.
    if (first === 1) await makePartitions(db)
  }
  const [oldest] = await listPartitions(db)
  if (oldest === undefined || oldest.daysSince <= 0) throw new Error('the old month has no partition')
  return oldest.name
}

/** Exports a month, takes it out and deletes it, as an operator does. */
export async function archiveMonth(env: Readonly<Record<string, string>>, name: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const month = ['export', '--month', name, '--folder', folder]
  const order = ['--drop', '--apply', '--confirm', name, '--reason', 'a fault run']
  const child = startLogged([opsProgram('archive'), ...month, ...order], { env, logFile, point: undefined })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`ops archive ended with ${code}: ${logFile}`)
}
