import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { Refusal } from '../../scripts/bootstrap/progress.mjs'
import { freePort } from '../../scripts/dev/ports.js'
import { postgresReady, preparePostgres, startPostgres } from '../../scripts/dev/postgres/postgres.js'
import { withConnection } from '../../scripts/dev/postgres/session.js'
import { privatePostgres } from '../helpers/servers/private-postgres.js'
import { isRunning } from '../helpers/servers/service-process.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

/** The values of all columns of all rows. */
function select(url: string, sql: string): Promise<unknown[]> {
  return withConnection(url, async (client) =>
    (await client.query({ text: sql, rowMode: 'array' })).rows.flat(),
  )
}

test('a second PostgreSQL on the same data folder is refused with the process id of the first', async (t) => {
  const { dataDir } = await privatePostgres(t)
  const error = await t.throwsAsync(startPostgres({ dataDir, port: await freePort() }), {
    instanceOf: Refusal,
  })
  t.regex(error.message, new RegExp(`process ${process.pid}\\b`))
})

test('committed data survives a killed server, and PostgreSQL starts again on its folder', async (t) => {
  const { running, startAgain } = await privatePostgres(t)
  await select(running.url('postgres'), 'create table kept as select 42 as answer')
  await running.kill()
  const again = await startAgain()
  t.deepEqual(await select(again.url('postgres'), 'select answer from kept'), [42])
})

test('PostgreSQL starts despite a stale pid file whose pid another program has now', async (t) => {
  const { dataDir, running, startAgain } = await privatePostgres(t)
  await running.stop()
  const stranger = spawn('sleep', ['60'])
  t.teardown(() => stranger.kill())
  const data = join(dataDir, 'postgres/data')
  writeFileSync(join(data, 'postmaster.pid'), `${stranger.pid}\n${data}\n1\n1\n\n\n\nready\n`)
  const again = await startAgain()
  t.deepEqual(await select(again.url('postgres'), 'select 1'), [1])
  t.true(isRunning(stranger.pid ?? 0), 'the other program still runs')
})

test('a PostgreSQL whose parent was killed is stopped before a new one starts on its folder', async (t) => {
  const dataDir = temporaryFolder(t)
  const port = await freePort()
  const { program, url, release } = await preparePostgres({ dataDir, port })
  const { command, args, output, signal, ...options } = program
  const leftover = spawn(command, args, { ...options, stdio: 'ignore' })
  await postgresReady(url('postgres'), () => true)
  release()
  const running = await startPostgres({ dataDir, port })
  t.teardown(running.stop)
  t.false(isRunning(leftover.pid ?? 0))
  t.not(
    Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10),
    leftover.pid,
  )
})
