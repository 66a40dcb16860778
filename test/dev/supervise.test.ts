import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Program, Supervised } from '../../scripts/dev/supervise.js'
import { isRunning } from '../helpers/servers/processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { until } from '../helpers/until.js'

/** A program that writes down its number at each start. */
function recorder(t: ExecutionContext, then: string): { program: Program; starts: () => number[] } {
  const file = join(temporaryFolder(t), 'starts')
  const args = ['-c', `echo $$ >> ${file}; ${then}`]
  const starts = (): number[] => {
    try {
      return readFileSync(file, 'utf8').trim().split('\n').map(Number)
    } catch {
      return []
    }
  }
  return { program: { command: '/bin/sh', args, signal: 'SIGTERM' }, starts }
}

test('a child that is killed is named and started again', async (t) => {
  const { program, starts } = recorder(t, 'exec sleep 300')
  const said: string[] = []
  const supervised = new Supervised('mailer', program, (text) => said.push(text))
  t.teardown(() => supervised.stop(1000))
  await until('the first start', () => starts().length === 1)
  process.kill(starts()[0] ?? 0, 'SIGKILL')
  await until('the second start', () => starts().length === 2)
  t.is(said[0], 'mailer ended (SIGKILL), starting it again in 0.25 s')
  t.true(isRunning(starts()[1] ?? 0))
})

test('a child that keeps ending is started at growing intervals and its exit code is told', async (t) => {
  const { program } = recorder(t, 'exit 3')
  const said: string[] = []
  const supervised = new Supervised('clock', program, (text) => said.push(text))
  await until('three failures', () => said.length >= 3)
  await supervised.stop(1000)
  t.deepEqual(
    said.slice(0, 3).map((text) => text.replace('clock ended (exit code 3), starting it again in ', '')),
    ['0.25 s', '0.5 s', '1 s'],
  )
})

test('a stopped child is not started again, and one that will not stop is killed', async (t) => {
  const { program, starts } = recorder(t, 'trap "" TERM; while :; do sleep 0.1; done')
  const said: string[] = []
  const supervised = new Supervised('web 1', program, (text) => said.push(text))
  await until('the start', () => starts().length === 1)
  await supervised.stop(300)
  await until('it is gone', () => !isRunning(starts()[0] ?? 0))
  t.deepEqual(said, [])
})
