import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../dev/ports.js'
import { waitUntil } from '../dev/wait-until.js'
import type { Defer } from './closing.js'

const startMs = 30_000
const shipped = 'scripts/deploy/nginx.conf'

export function hasNginx(): boolean {
  return spawnSync('nginx', ['-v']).status === 0
}

/**
 * Starts nginx with the configuration that a release ships, without TLS, before these processes. It asks none whether it is ready.
 * Returns its URL.
 */
export async function startNginx(backends: readonly string[], defer: Defer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tipping-nginx-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, `${frame(folder)}\nhttp {\naccess_log off;\n${site(port, backends)}}\n`)
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], {
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  defer(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const url = `http://127.0.0.1:${port}`
  // The processes may start later: then it answers 502.
  const answers = () =>
    fetch(`${url}/health`).then(
      () => true,
      () => false,
    )
  if (!(await waitUntil(answers, startMs, () => child.exitCode === null)))
    throw new Error(`nginx does not answer: ${readFileSync(join(folder, 'error.log'), 'utf8')}`)
  return url
}

function frame(folder: string): string {
  return `daemon off;\nuser root;\nworker_processes 1;\npid ${join(folder, 'nginx.pid')};\nevents { worker_connections 4096; }`
}

function site(port: number, backends: readonly string[]): string {
  const text = readFileSync(shipped, 'utf8')
  const servers = backends.map((url) => `    server ${new URL(url).host} max_fails=0;\n`).join('')
  const [, upstream = ''] = /(upstream tipping \{[^}]*\})/.exec(text) ?? []
  const [, secure = ''] = /(server \{\s*listen 443[\s\S]*)$/.exec(text) ?? []
  return [
    upstream.replace(/( +server [^\n]*\n)+/, servers),
    secure.replace(/listen 443[^;]*;/, `listen 127.0.0.1:${port};`).replace(/ +ssl_[^\n]*\n/g, ''),
  ].join('\n')
}
