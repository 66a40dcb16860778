import { spawnSync } from 'node:child_process'
import test from 'ava'

const log = new URL('../../src/platform/log.js', import.meta.url)

/** The error as a separate process logs it. */
function logged(fields: object): Record<string, unknown> {
  const program = `
    import { createLog } from '${log}'
    createLog('info', 'test').warn({ err: Object.assign(new Error('unavailable'), ${JSON.stringify(fields)}) }, 'it failed')`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return JSON.parse(stdout).err
}

for (const code of ['ECONNREFUSED', '57P01', 429])
  test(`the log shows the error code ${code}`, (t) => {
    t.is(logged({ code })['errorCode'], code)
  })

for (const code of ['123456', 123_456, 'correct horse', { code: '123456' }])
  test(`the log does not show a code that may be a secret: ${JSON.stringify(code)}`, (t) => {
    const line = logged({ code, detail: 'Key (email)=(ada@example.com) exists', password: 'four words' })
    t.false(/123456|horse|ada@|words/.test(JSON.stringify(line)))
    t.is(line['errorCode'], undefined)
  })
