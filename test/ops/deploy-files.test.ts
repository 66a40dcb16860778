import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { deployFiles } from '../../scripts/deploy/deploy-files.js'
import { deployedProcesses } from '../../scripts/deploy/processes.js'
import { allSecrets, secretsOf } from '../../src/platform/config/secrets.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

const files = deployFiles(readFileSync('Procfile', 'utf8'), readFileSync('.env.example', 'utf8'))
const systemd = 'scripts/deploy/systemd'

test('the units, app.json and the list of secrets follow from the Procfile and the list of the code', (t) => {
  // The formatter lays JSON out.
  const content = (file: string, text: string) => (file.endsWith('.json') ? JSON.parse(text) : text)
  for (const [file, text] of Object.entries(files))
    t.deepEqual(
      content(file, readFileSync(file, 'utf8')),
      content(file, text),
      `${file}: run node dist/scripts/deploy/write-files.js`,
    )
  const units = readdirSync(systemd).map((name) => `${systemd}/${name}`)
  t.deepEqual(
    units.sort(),
    Object.keys(files)
      .filter((file) => file.startsWith(systemd))
      .sort(),
  )
  t.regex(files['scripts/deploy/secrets.txt'] ?? '', /^mailer: DATABASE_URL REDIS_URL SMTP_URL DATA_KEY$/m)
})

test('the processes that doctor and split-settings know are those of the Procfile, in its order', (t) => {
  const names = readFileSync('Procfile', 'utf8').match(/^[\w-]+(?=:)/gm) ?? []
  t.deepEqual(['release', ...deployedProcesses], [...names])
})

test('systemd accepts the units', (t) => {
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined) {
    t.log('systemd-analyze is not installed')
    t.pass()
    return
  }
  const units = Object.keys(files).filter((file) => file.startsWith(systemd))
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...units], {
    encoding: 'utf8',
  })
  const complaints = `${stdout}${stderr}`.split('\n').filter((line) => /tipping/.test(line))
  // Without a user of this name and a program at this place the units are right nevertheless.
  t.deepEqual(
    complaints.filter((line) => !/is not executable|Unknown user|No such file/.test(line)),
    [],
  )
})

test('split-settings gives each process its own secrets and nobody else those', (t) => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'all.env')
  const lines = allSecrets.map((name) => `${name}="of ${name}"\n`)
  writeFileSync(source, `${lines.join('')}PORT=1\nMAIL_FROM='Tips <support@tips.example>'\n`)
  const program = ['dist/scripts/deploy/split-settings.js', source, folder]
  const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' })
  t.is(status, 0, stderr)
  t.is(readFileSync(join(folder, 'common.env'), 'utf8'), 'MAIL_FROM="Tips <support@tips.example>"\n')
  for (const name of ['web', 'mailer', 'clock', 'custodian'] as const)
    t.deepEqual(
      readFileSync(join(folder, `${name}.env`), 'utf8')
        .trim()
        .split('\n')
        .sort(),
      [...secretsOf[name]].map((secret) => `${secret}="of ${secret}"`).sort(),
    )
})

test('split-settings gives a process the address of its own database role, and shows it to nobody else', (t) => {
  const folder = temporaryFolder(t)
  const source = join(folder, 'all.env')
  const split = (text: string) => {
    writeFileSync(source, text)
    const program = ['dist/scripts/deploy/split-settings.js', source, folder]
    return spawnSync(process.execPath, program, { encoding: 'utf8' })
  }
  const { status, stderr } = split(
    'DATABASE_URL=owner\nDATABASE_URL_WEB=web\nDATABASE_URL_OPERATORS=ops\nPUBLIC_URL=https://tips.example\n',
  )
  t.is(status, 0, stderr)
  t.is(readFileSync(join(folder, 'common.env'), 'utf8'), 'PUBLIC_URL="https://tips.example"\n')
  t.is(readFileSync(join(folder, 'web.env'), 'utf8'), 'DATABASE_URL="web"\n')
  t.is(readFileSync(join(folder, 'mailer.env'), 'utf8'), 'DATABASE_URL="owner"\n')
  const misspelt = split('DATABASE_URL=owner\nDATABASE_URL_MAILR=secret\n')
  t.is(misspelt.status, 2)
  t.regex(misspelt.stderr, /DATABASE_URL_MAILR: no process has this name/)
})
