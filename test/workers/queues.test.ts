import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { isWoken, workKinds } from '../../src/platform/queue/wake-ups.js'

test('every queue that a worker consumes has a producer', (t) => {
  const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join('src', file), 'utf8'))
    .join('\n')
  for (const kind of workKinds) t.is(new RegExp(`wake\\('${kind}'`).test(source), isWoken(kind), kind)
})
