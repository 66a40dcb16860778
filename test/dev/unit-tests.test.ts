import { spawn } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { until } from '../helpers/until.js'

const sources = {
  'src/one.ts': 'export const one: number = 1\n',
  'test/helpers/servers/world.ts': 'export const world = 1\n',
  'test/helpers/make/tips.ts':
    "import {\n  world,\n} from '../servers/world.js'\nexport const tips = world\nexport type Tip = number\n",
  'test/one.test.ts':
    "import test from 'ava'\nimport { one } from '../src/one.js'\nimport type { Tip } from './helpers/make/tips.js'\n" +
    "test('one is one', (t) => { const tip: Tip = one; t.is(tip, 1) })\n",
  'test/tips.test.ts':
    "import test from 'ava'\nimport { tips } from './helpers/make/tips.js'\ntest('tips', (t) => { t.is(tips, 1) })\n",
}

test('npm run test:unit runs what imports no server, names what does, and repeats after a change with --watch', async (t) => {
  const folder = temporaryFolder(t)
  for (const [name, text] of Object.entries(sources)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  mkdirSync(join(folder, 'scripts'))
  for (const name of ['bootstrap', 'bootstrap.mjs'])
    cpSync(`scripts/${name}`, join(folder, 'scripts', name), { recursive: true })
  for (const name of ['node_modules', 'package-lock.json']) symlinkSync(resolve(name), join(folder, name))
  for (const name of ['package.json', 'tsconfig.json']) copyFileSync(name, join(folder, name))
  function run(...args: string[]) {
    const program = ['scripts/bootstrap.mjs', 'test:unit', ...args]
    const child = spawn(process.execPath, program, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } })
    t.teardown(() => child.kill('SIGKILL'))
    const run = { child, output: '' }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        run.output += chunk.toString()
      })
    return run
  }
  /** Waits for a state of a run. The error of one that never has it shows what the run printed. */
  async function wait(what: string, one: ReturnType<typeof run>, holds: () => boolean): Promise<void> {
    try {
      await until(what, holds)
    } catch (error) {
      throw new Error(`${(error as Error).message}; it printed:\n${one.output}`)
    }
  }

  const refused = run('test/tips.test.ts')
  const wasRefused = () => refused.child.exitCode !== null && refused.output.includes('needs')
  await wait('a file that needs a server is refused', refused, wasRefused)
  t.is(refused.child.exitCode, 2)
  t.regex(refused.output, /needs test\/helpers\/servers\/world\.ts: npm test -- test\/tips\.test\.ts/)

  const watching = run('--watch')
  await wait('the first run ends', watching, () => watching.output.includes('waiting for a change'))
  t.regex(watching.output, /1 test passed/)
  writeFileSync(join(folder, 'src/one.ts'), 'export const one: number = 2\n')
  await wait('the second run ends', watching, () => watching.output.includes('1 test failed'))
  t.regex(watching.output, /test[/]one\.test\.ts:4/)
  watching.child.kill()
  const hasEnded = () => watching.child.exitCode !== null || watching.child.signalCode !== null
  await wait('a signal ends it', watching, hasEnded)
  t.false(readFileSync(join(folder, 'dist/src/one.js'), 'utf8').includes('number'))
})
