import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import {
  allSecrets,
  type Secret,
  secretsOf,
  withoutOtherSecrets,
} from '../../src/platform/config/process-secrets.js'
import { databaseSetting, deployedProcesses, workerPort } from './processes.js'

// `node dist/scripts/deploy/split-settings.js <settings file> <folder>`: makes of one file with all settings `common.env` with
// those that are not secret, and for each process a file with its own secrets alone, which only their owner may read.
// `DATABASE_URL_WEB`, `DATABASE_URL_MAILER` and so on become the DATABASE_URL of that process: each may have its own role. The
// file of a worker also has what tipping-worker@.service needs: its arguments and its port.
const [source, folder] = process.argv.slice(2)
if (source === undefined || folder === undefined) {
  process.stderr.write(
    'usage: split-settings.js <file with all settings> <folder for the files of the processes>\n',
  )
  process.exit(2)
}
const given = parseEnv(readFileSync(source, 'utf8')) as NodeJS.ProcessEnv
const roles = ['operators', 'take-outs', ...deployedProcesses].map(databaseSetting)
const all = Object.fromEntries(Object.entries(given).filter(([name]) => !roles.includes(name)))
const unknown = Object.keys(all).filter((name) => name.startsWith('DATABASE_URL_'))
if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(', ')}: no process has this name. Nothing was written\n`)
  process.exit(2)
}
mkdirSync(folder, { recursive: true, mode: 0o755 })

/** Each process has its own; its unit sets them. */
const ports = ['PORT', 'METRICS_PORT', 'WORKER_PORT']
const open = withoutOtherSecrets(all, [])
write(
  'common.env',
  Object.entries(open).filter(([name]) => !ports.includes(name)),
  0o644,
)
for (const [place, name] of deployedProcesses.entries()) {
  const own = { ...all, DATABASE_URL: given[databaseSetting(name)] || all['DATABASE_URL'] }
  const unit: [string, string][] = [
    ['WORKERS', name === 'custodian' ? 'custodian take-outs' : name],
    ['WORKER_PORT', String(workerPort(place))],
  ]
  const secrets = secretsAmong(withoutOtherSecrets(own, secretsOf[name]))
  write(`${name}.env`, name === 'web' ? secrets : [...unit, ...secrets], 0o600)
}

function secretsAmong(env: NodeJS.ProcessEnv): [string, string | undefined][] {
  return Object.entries(env).filter(([name]) => allSecrets.some((secret: Secret) => secret === name))
}

function write(
  name: string,
  settings: readonly (readonly [string, string | undefined])[],
  mode: number,
): void {
  const file = join(folder ?? '', name)
  const lines = settings.map(([setting, value = '']) => `${setting}=${quoted(value)}\n`)
  writeFileSync(file, lines.join(''), { mode })
  chmodSync(file, mode)
}

/** In quotes, so that systemd, a shell and Node read the same. */
function quoted(value: string): string {
  if (/["\\$`\n]/.test(value)) {
    if (/['\n]/.test(value)) throw new Error('a value has both kinds of quotes, or a line break')
    return `'${value}'`
  }
  return `"${value}"`
}
