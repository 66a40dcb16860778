import { spawnSync } from 'node:child_process'
import test from 'ava'

const log = new URL('../../src/platform/log.js', import.meta.url)

/** What a process of its own logs of this error. */
function logged(fields: object): Record<string, unknown> {
  const program = `
    import { createLog } from '${log}'
    createLog('info', 'test').warn({ err: Object.assign(new Error('away'), ${JSON.stringify(fields)}) }, 'it failed')`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return JSON.parse(stdout).err
}

for (const code of ['ECONNREFUSED', '57P01', 429])
  test(`an operator reads what kind of error it was: ${code}`, (t) => {
    t.is(logged({ code })['errorCode'], code)
  })

for (const code of ['123456', 123_456, 'correct horse', { code: '123456' }])
  test(`a code that may be a secret is in no line: ${JSON.stringify(code)}`, (t) => {
    const line = logged({ code, detail: 'Key (email)=(ada@example.com) exists', password: 'four words' })
    t.false(/123456|horse|ada@|words/.test(JSON.stringify(line)))
    t.is(line['errorCode'], undefined)
  })
