import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { opsProgram, opsPrograms } from '../../scripts/bootstrap/ops.mjs'
import type { Command } from '../../scripts/ops/support/command.js'
import { spawnOpsScript } from '../helpers/run-ops-script.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

/** Makes a clone with two operators' commands and nothing else. Returns a function that runs `npm run ops` in it. */
function makeSmallClone(
  t: ExecutionContext,
): (...args: string[]) => { code: number | null; output: string[] } {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'scripts/ops'), { recursive: true })
  for (const name of ['bootstrap', 'bootstrap.mjs'])
    cpSync(`scripts/${name}`, join(folder, 'scripts', name), { recursive: true })
  for (const name of ['node_modules', 'package.json', 'package-lock.json'])
    symlinkSync(resolve(name), join(folder, name))
  for (const name of ['payouts', 'suspense'])
    writeFileSync(
      join(folder, `scripts/ops/${name}.ts`),
      `/** Shows ${name}. */\nconsole.log(process.argv[2])\n`,
    )
  const compilerOptions = { module: 'NodeNext', rootDir: '.', outDir: 'dist', types: ['node'] }
  const config = { compilerOptions, include: ['scripts/ops/*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return (...args) => {
    const program = [join(folder, 'scripts/bootstrap.mjs'), 'ops', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' })
    return { code: status, output: [stdout, stderr] }
  }
}

test('npm run ops lists its commands, and refuses an unknown one with exit code 2', (t) => {
  const ops = makeSmallClone(t)
  const list = 'payouts   Shows payouts.\n  suspense  Shows suspense.\n'
  const bare = ops()
  t.is(bare.code, 0, bare.output[1])
  t.is(ops('--nope').code, 2)
  t.true(bare.output[0]?.endsWith(list), bare.output[0])
  t.deepEqual(ops('--help'), { code: 0, output: bare.output.with(1, '') })
  const mistyped = ops('payout', 'list')
  t.is(mistyped.code, 2)
  t.regex(mistyped.output[1] ?? '', /is called payout\. Did you mean payouts\?/)
  const unknown = ops('nope')
  t.is(unknown.code, 2)
  t.regex(unknown.output[1] ?? '', /is called nope\. Did you mean one of payouts, suspense\?/)
  t.deepEqual(ops('payouts', 'list'), { code: 0, output: ['list\n', ''] })
})

test('the help of a command describes each option that it takes, and no other', async (t) => {
  for (const name of opsPrograms().keys()) {
    const file: { command: Command<Record<string, never>> } = await import(resolve(opsProgram(name)))
    const { help, options } = file.command
    const described = [...help.matchAll(/^ {2}--([\w-]+)(?: <[^>]+>)?(?: {2}|$)/gm)].map(
      ([, option]) => option,
    )
    const taken = [...Object.keys(options), 'json', 'help']
    t.deepEqual(taken.toSorted(), [...new Set(described)].toSorted(), name)
  }
})

test('migrate prints its help and refuses wrong arguments without a database', async (t) => {
  const noDatabase = { env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } }
  const help = await spawnOpsScript(noDatabase, 'migrate', '--help')
  t.is(help.code, 0)
  t.regex(help.out, /^npm run migrate$/m)
  t.is((await spawnOpsScript(noDatabase, 'migrate', 'now')).code, 2)
  t.is((await spawnOpsScript(noDatabase, 'migrate')).code, 5)
})

/** Copies what a deploy installs: the build and the packages that are not only for development. */
function makeRelease(t: ExecutionContext): string {
  const folder = temporaryFolder(t)
  for (const name of [
    'package.json',
    'package-lock.json',
    'scripts',
    'dist/migrations',
    'dist/scripts',
    'dist/src',
    'dist/workers',
  ])
    cpSync(name, join(folder, name), {
      recursive: true,
      filter: (file) => !file.startsWith('dist/src/pages'),
    })
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  for (const [path, { dev = false }] of Object.entries(packages)) {
    if (dev || path === '' || path.lastIndexOf('node_modules/') > 0 || !existsSync(path)) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(resolve(path), join(folder, path))
  }
  return folder
}

test('npm run ops in a release without dev packages runs the built script and installs nothing', (t) => {
  const folder = makeRelease(t)
  const files = () => [readdirSync(folder), readdirSync(join(folder, 'node_modules'))]
  const before = files()
  t.false(before.flat().includes('ava'))
  // Without npm and tsc nothing can be installed or built.
  const env = { PATH: '/nowhere', DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'scripts/bootstrap.mjs'), 'ops', ...args], {
      encoding: 'utf8',
      env,
    })
  const help = run('payouts', '--help')
  t.is(help.status, 0, help.stderr)
  t.regex(help.stdout, /npm run ops -- payouts/)
  t.is(run('check-books').status, 5)
  // In one process, because a program of each takes a minute of CPU: every command finds its packages.
  const commands = [...opsPrograms().values()].map((file) => join(folder, file))
  const load = `for (const file of ${JSON.stringify(commands)}) (await import(file)).command.help`
  const loaded = spawnSync(process.execPath, ['--input-type=module', '-e', load], { encoding: 'utf8', env })
  t.is(loaded.status, 0, loaded.stderr)
  t.deepEqual(files(), before)
  // Npm writes this file at the end of an installation.
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), '{}')
  const dev = spawnSync(process.execPath, [join(folder, 'scripts/bootstrap.mjs'), 'dev'], {
    encoding: 'utf8',
    env,
  })
  t.is(dev.status, 1)
  t.regex(dev.stderr, /npm run dev needs the packages for development, and this is a built release/)
})

test('promtool accepts the rules and their tests', (t) => {
  const run = spawnSync('promtool', ['test', 'rules', 'rules.test.yml'], {
    cwd: 'scripts/deploy/monitoring',
    encoding: 'utf8',
  })
  if (run.error !== undefined)
    t.log('skipped: promtool is not installed (Debian: apt-get install prometheus)')
  else t.is(run.status, 0, run.stdout + run.stderr)
  t.pass()
})
