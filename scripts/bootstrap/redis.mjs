import { rmSync, writeFileSync } from 'node:fs'
import { aptInstall, mayInstall, works } from './apt.mjs'
import { Refusal } from './progress.mjs'

const howTo =
  'redis-server is missing; install it (Debian: sudo apt-get install redis-server; macOS: brew install redis)'

/** Installs redis-server where that needs no question (root on a Debian system), else says how. */
export async function ensureRedis() {
  if (works('redis-server')) return
  if (!mayInstall()) throw new Refusal(`${howTo} or set REDIS_URL`)
  await withoutServices(() => aptInstall('redis-server'))
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
