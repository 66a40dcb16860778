import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { Refusal, run } from './progress.mjs'

const aptOptions = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0']
const redisHelp =
  'redis-server is missing; install it (Debian: sudo apt-get install redis-server; macOS: brew install redis)'

/** Installs redis-server if this process may (root on Debian). Otherwise throws a Refusal that explains how. */
export async function ensureRedis() {
  if (isInstalled('redis-server')) return
  if (!mayInstall()) throw new Refusal(`${redisHelp} or set REDIS_URL to a Redis of yours`)
  await withoutServiceStart(() => aptInstall('redis-server'))
}

/** As `ensureRedis`, for the browser of the browser tests. The setting CHROMIUM names another Chromium. */
export async function ensureChromium() {
  const program = process.env.CHROMIUM || 'chromium'
  if (isInstalled(program)) return
  if (process.env.CHROMIUM || !mayInstall())
    throw new Refusal(
      `${program} is missing; install it (Debian: sudo apt-get install chromium) or set CHROMIUM to a Chromium of yours`,
    )
  await aptInstall('chromium')
}

function isInstalled(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}

/** Packages are installed without asking only for root on a Debian system. */
function mayInstall() {
  return process.getuid?.() === 0 && isInstalled('apt-get')
}

async function aptInstall(name) {
  if ((await apt(name, 'install')) === 0) return
  // A new container has no package lists, and an old one has outdated lists.
  if ((await apt(name, 'update')) !== 0 || (await apt(name, 'install')) !== 0)
    throw new Refusal(`apt-get could not install ${name}; its messages are above`)
}

function apt(name, action) {
  const rest = action === 'install' ? ['-y', '--no-install-recommends', name] : []
  return run(`apt-get ${action} ${name}`, 'apt-get', [action, ...aptOptions, ...rest], {
    env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    interruptible: false,
  })
}

/**
 * Debian starts a service when its package is installed, unless policy-rc.d refuses. We need only the program, so we
 * write a policy that refuses while this process runs. A file left behind after SIGKILL has no effect.
 */
async function withoutServiceStart(work) {
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
