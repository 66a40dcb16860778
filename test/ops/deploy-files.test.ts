import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { deployedProcesses, scrapeTargets } from '../../scripts/deploy/processes.js'
import { allSecrets, secretsOf } from '../../src/platform/config/process-secrets.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'

const systemd = 'scripts/deploy/systemd'
const [, ...workers] = deployedProcesses

test('the processes that doctor and split-settings know are those of the Procfile, in its order', (t) => {
  const names = readFileSync('Procfile', 'utf8').match(/^[\w-]+(?=:)/gm) ?? []
  t.deepEqual(['release', ...deployedProcesses], [...names])
})

test('the target starts every process, and Prometheus asks every process', (t) => {
  const wanted = /^Wants=(.*)$/m.exec(readFileSync(`${systemd}/tipping.target`, 'utf8'))?.[1]
  t.deepEqual(wanted?.split(' '), [
    'tipping-web@3000.service',
    ...workers.map((name) => `tipping-worker@${name}.service`),
  ])
  const prometheus = readFileSync('scripts/deploy/monitoring/prometheus.yml', 'utf8')
  const targets = prometheus.matchAll(/\["localhost:(\d+)"\], labels: \{ process: (\w+) \}/g)
  t.deepEqual(
    [...targets].map(([, port, name]) => [name, Number(port)]),
    scrapeTargets(deployedProcesses),
  )
})

test('systemd accepts the units', (t) => {
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined) {
    t.log('systemd-analyze is not installed')
    t.pass()
    return
  }
  const units = readdirSync(systemd).map((name) => `${systemd}/${name}`)
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

/** Runs split-settings on this text. `read` gives the lines of the file of one process, or of `common`. */
function split(folder: string, text: string) {
  const source = join(folder, 'all.env')
  writeFileSync(source, text)
  const program = ['dist/scripts/deploy/split-settings.js', source, folder]
  const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' })
  const read = (name: string) =>
    readFileSync(join(folder, `${name}.env`), 'utf8')
      .trim()
      .split('\n')
  return { status, stderr, read }
}

/** What a unit needs besides the secrets. */
const unitLine = /^(WORKERS|WORKER_PORT)=/

test('split-settings gives each process its own secrets and nobody else those', (t) => {
  const lines = allSecrets.map((name) => `${name}="of ${name}"\n`)
  const text = `${lines.join('')}PORT=1\nMAIL_FROM='Tips <support@tips.example>'\n`
  const { status, stderr, read } = split(temporaryFolder(t), text)
  t.is(status, 0, stderr)
  t.deepEqual(read('common'), ['MAIL_FROM="Tips <support@tips.example>"'])
  for (const name of ['web', 'mailer', 'clock', 'custodian'] as const)
    t.deepEqual(
      read(name)
        .filter((line) => !unitLine.test(line))
        .sort(),
      [...secretsOf[name]].map((secret) => `${secret}="of ${secret}"`).sort(),
    )
})

test('split-settings gives each worker the arguments of the Procfile and the port that Prometheus asks', (t) => {
  const { read } = split(temporaryFolder(t), 'DATABASE_URL=owner\nWORKER_PORT=1\n')
  const procfile = readFileSync('Procfile', 'utf8')
  for (const [name, port] of scrapeTargets(deployedProcesses).slice(1)) {
    const args = new RegExp(`^${name}: node dist/workers/main.js (.*)$`, 'm').exec(procfile)?.[1]
    t.deepEqual(read(name).slice(0, 2), [`WORKERS="${args}"`, `WORKER_PORT="${port}"`])
  }
  t.deepEqual(read('web'), ['DATABASE_URL="owner"'])
})

test('split-settings gives a process the address of its own database role, and shows it to nobody else', (t) => {
  const folder = temporaryFolder(t)
  const { status, stderr, read } = split(
    folder,
    'DATABASE_URL=owner\nDATABASE_URL_WEB=web\nDATABASE_URL_OPERATORS=ops\nPUBLIC_URL=https://tips.example\n',
  )
  t.is(status, 0, stderr)
  t.deepEqual(read('common'), ['PUBLIC_URL="https://tips.example"'])
  t.deepEqual(read('web'), ['DATABASE_URL="web"'])
  t.is(read('mailer').at(-1), 'DATABASE_URL="owner"')
  const misspelt = split(folder, 'DATABASE_URL=owner\nDATABASE_URL_MAILR=secret\n')
  t.is(misspelt.status, 2)
  t.regex(misspelt.stderr, /DATABASE_URL_MAILR: no process has this name/)
})
