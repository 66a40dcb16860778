import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Program, SupervisedProcess } from '../../scripts/dev/supervise.js'
import { isRunning } from '../helpers/servers/service-process.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

/** A program that writes its process id to a file at each start. */
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

test('a killed process is reported by name and started again', async (t) => {
  const { program, starts } = recorder(t, 'exec sleep 300')
  const lines: string[] = []
  const supervised = new SupervisedProcess('mailer', program, (text) => lines.push(text))
  t.teardown(() => supervised.stop(1000))
  await until('the first start', () => starts().length === 1)
  process.kill(starts()[0] ?? 0, 'SIGKILL')
  await until('the second start', () => starts().length === 2)
  t.is(lines[0], 'mailer ended (SIGKILL), starting it again in 0.25 s')
  t.true(isRunning(starts()[1] ?? 0))
})

test('a process that keeps ending is restarted with growing pauses, and its exit code is reported', async (t) => {
  const { program } = recorder(t, 'exit 3')
  const lines: string[] = []
  const supervised = new SupervisedProcess('clock', program, (text) => lines.push(text))
  await until('three failures', () => lines.length >= 3)
  await supervised.stop(1000)
  t.deepEqual(
    lines.slice(0, 3).map((text) => text.replace('clock ended (exit code 3), starting it again in ', '')),
    ['0.25 s', '0.5 s', '1 s'],
  )
})

test('a stopped process is not started again, and one that ignores its signal is killed', async (t) => {
  const { program, starts } = recorder(t, 'trap "" TERM; while :; do sleep 0.1; done')
  const lines: string[] = []
  const supervised = new SupervisedProcess('web 1', program, (text) => lines.push(text))
  await until('the start', () => starts().length === 1)
  await supervised.stop(300)
  await until('it is gone', () => !isRunning(starts()[0] ?? 0))
  t.deepEqual(lines, [])
})
