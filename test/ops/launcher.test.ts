import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runScript } from '../helpers/ops.js'
import { temporaryFolder } from '../helpers/temporary.js'

/** A clone with two operators' scripts and nothing else; returns what runs `npm run ops` in it. */
function smallClone(t: ExecutionContext): (...args: string[]) => { code: number | null; told: string[] } {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'scripts/ops'), { recursive: true })
  for (const name of ['bootstrap', 'bootstrap.mjs'])
    cpSync(`scripts/${name}`, join(folder, 'scripts', name), { recursive: true })
  for (const name of ['node_modules', 'package.json', 'package-lock.json'])
    symlinkSync(resolve(name), join(folder, name))
  for (const name of ['payouts', 'suspense'])
    writeFileSync(
      join(folder, `scripts/ops/${name}.ts`),
      `/** Tells ${name}. */\nconsole.log(process.argv[2])\n`,
    )
  const compilerOptions = { module: 'NodeNext', rootDir: '.', outDir: 'dist', types: ['node'] }
  const config = { compilerOptions, include: ['scripts/ops/*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return (...args) => {
    const program = [join(folder, 'scripts/bootstrap.mjs'), 'ops', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' })
    return { code: status, told: [stdout, stderr] }
  }
}

test('npm run ops names its scripts, and answers one it does not have with exit code 2', (t) => {
  t.timeout(60_000)
  const ops = smallClone(t)
  const list = 'payouts   Tells payouts.\n  suspense  Tells suspense.\n'
  const bare = ops()
  t.is(bare.code, 2, bare.told[1])
  t.true(bare.told[0]?.endsWith(list), bare.told[0])
  t.deepEqual(ops('--help'), { code: 0, told: bare.told.with(1, '') })
  const mistyped = ops('payout', 'list')
  t.is(mistyped.code, 2)
  t.regex(mistyped.told[1] ?? '', /is called payout\. Did you mean payouts\?/)
  const unknown = ops('nope')
  t.is(unknown.code, 2)
  t.regex(unknown.told[1] ?? '', /is called nope\. Did you mean one of payouts, suspense\?/)
  t.deepEqual(ops('payouts', 'list'), { code: 0, told: ['list\n', ''] })
})

test('migrate explains itself and refuses words before it touches a database', async (t) => {
  const away = { env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } }
  const help = await runScript(away, 'migrate', '--help')
  t.is(help.code, 0)
  t.regex(help.out, /^npm run migrate$/m)
  t.is((await runScript(away, 'migrate', 'now')).code, 2)
  t.is((await runScript(away, 'migrate')).code, 5)
})
