import { spawnSync } from 'node:child_process'
import { Refusal, run } from './progress.mjs'

const lockWait = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0']

/** Whether a command is there and runs. @param {string} command */
export function works(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}

/** Whether a Debian package may be installed without asking: root on a Debian system. */
export function mayInstall() {
  return process.getuid?.() === 0 && works('apt-get')
}

/** Installs a Debian package, with fresh lists when the ones there do not do. @param {string} name */
export async function aptInstall(name) {
  if ((await apt(name, 'install')) === 0) return
  // A fresh container has no package lists, an old one has lists of packages that are gone.
  if ((await apt(name, 'update')) !== 0 || (await apt(name, 'install')) !== 0)
    throw new Refusal(`apt-get could not install ${name}, see above`)
}

function apt(name, action) {
  const rest = action === 'install' ? ['-y', '--no-install-recommends', name] : []
  return run(`apt-get ${action} ${name}`, 'apt-get', [action, ...lockWait, ...rest], {
    env: { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
    interruptible: false,
  })
}
