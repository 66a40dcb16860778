import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Refusal } from '../bootstrap/progress.mjs'

const run = promisify(execFile)
const outputBytes = 16 * 1024 * 1024

export interface OlderRelease {
  readonly ref: string
  /** Its files, built. */
  readonly folder: string
  remove(): Promise<void>
}

/** Builds a commit in a folder of its own. Empty: the last release. */
export async function checkOutRelease(
  given: string,
  report: (progress: string) => void,
): Promise<OlderRelease> {
  const ref = await git('rev-parse', '--short', `${given || (await lastRelease())}^{commit}`)
  const folder = mkdtempSync(join(tmpdir(), `tipping-${ref}-`))
  const remove = async () => rmSync(folder, { recursive: true, force: true })
  try {
    report(`building ${ref} in ${folder}`)
    await run('sh', ['-c', 'git archive --format=tar "$0" | tar -x -C "$1"', ref, folder])
    await installPackages(folder)
    await run('npm', ['run', 'build'], { cwd: folder, maxBuffer: outputBytes })
    return { ref, folder, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function lastRelease(): Promise<string> {
  const tag = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-v:refname')
  const [newest = ''] = tag.split('\n')
  if (newest === '')
    throw new Refusal(
      'there is no release yet, and 1.0.0 will be the first: give a commit with the same migrations with --ref',
    )
  return newest
}

/** The packages of this release serve, when the older one has the same. */
async function installPackages(folder: string): Promise<void> {
  const lockOf = (place: string) => readFileSync(join(place, 'package-lock.json'), 'utf8')
  if (lockOf(folder) === lockOf('.')) symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: outputBytes })
}

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', [...args]).catch((error: Error) => {
    throw new Refusal(`git ${args.join(' ')}: ${error.message}`)
  })
  return stdout.trim()
}
