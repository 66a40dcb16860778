import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../helpers/temporary-folder.js'

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

test('npm run test:unit runs what imports no server, and names what does', (t) => {
  const folder = temporaryFolder(t)
  for (const [name, text] of Object.entries(sources)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  mkdirSync(join(folder, 'scripts'))
  for (const name of ['bootstrap', 'bootstrap.mjs'])
    cpSync(`scripts/${name}`, join(folder, 'scripts', name), { recursive: true })
  for (const name of ['node_modules', 'package-lock.json']) symlinkSync(resolve(name), join(folder, name))
  for (const name of ['ava.config.js', 'package.json', 'tsconfig.json'])
    copyFileSync(name, join(folder, name))
  const run = (...args: string[]) => {
    const program = ['scripts/bootstrap.mjs', 'test:unit', ...args]
    const env = { ...process.env, NO_COLOR: '1' }
    const { status, stdout, stderr } = spawnSync(process.execPath, program, { cwd: folder, env })
    return { status, output: `${stdout}${stderr}` }
  }
  const refused = run('test/tips.test.ts')
  t.is(refused.status, 2)
  t.regex(refused.output, /needs test\/helpers\/servers\/world\.ts: npm test -- test\/tips\.test\.ts/)
  const passing = run()
  t.is(passing.status, 0, passing.output)
  t.regex(passing.output, /1 test passed/)
  writeFileSync(join(folder, 'src/one.ts'), 'export const one: number = 2\n')
  const failing = run()
  t.is(failing.status, 1)
  t.regex(failing.output, /test[/]one\.test\.ts:4/)
  t.false(readFileSync(join(folder, 'dist/src/one.js'), 'utf8').includes('number'))
})
