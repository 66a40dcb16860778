import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { Refusal, run } from './progress.mjs'

const howTo =
  'redis-server is missing; install it (Debian: sudo apt-get install redis-server; macOS: brew install redis)'

/** Installs redis-server where that needs no question (root on a Debian system), else says how. */
export async function ensureRedis() {
  if (works('redis-server')) return
  if (process.getuid?.() !== 0 || !works('apt-get')) throw new Refusal(`${howTo} or set REDIS_URL`)
  await withoutServices(async () => {
    if ((await apt('install')) === 0) return
    // A fresh container has no package lists, an old one has lists of packages that are gone.
    if ((await apt('update')) !== 0 || (await apt('install')) !== 0)
      throw new Refusal('apt-get could not install redis-server, see above')
  })
}

function works(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}

const lockWait = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0']
const packages = { install: ['-y', '--no-install-recommends', 'redis-server'], update: [] }

function apt(action) {
  return run(
    `apt-get ${action}${action === 'install' ? ' redis-server' : ''}`,
    'apt-get',
    [action, ...lockWait, ...packages[action]],
    {
      env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
      interruptible: false,
    },
  )
}

/**
 * Debian starts a service when its package is installed; we want the program alone. The policy it asks is ours for
 * that time only: it refuses while this process lives, so that even one left behind by SIGKILL changes nothing.
 */
async function withoutServices(work) {
  const policy = '/usr/sbin/policy-rc.d'
  const refuse = `#!/bin/sh\nkill -0 ${process.pid} 2>/dev/null && exit 101\nexit 0\n`
  let ours = false
  try {
    writeFileSync(policy, refuse, { flag: 'wx', mode: 0o755 })
    ours = true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  try {
    await work()
  } finally {
    if (ours) rmSync(policy, { force: true })
  }
}
