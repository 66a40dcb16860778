import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Builds, packs and installs the typed client into an empty project, without a network. Returns the packed size, and what was installed. */
export async function installClient(folder: string): Promise<{ bytes: number; packages: string[] }> {
  const inFolder = { cwd: folder, env: { ...process.env, npm_config_cache: join(folder, 'cache') } }
  await run(process.execPath, ['src/sdk/client/build.mjs', join(folder, 'client')])
  const { stdout } = await run('npm', ['pack', './client', '--silent'], inFolder)
  const file = stdout.trim()
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  await run('npm', ['install', `./${file}`, '--offline', '--no-audit', '--no-fund'], inFolder)
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  return { bytes: statSync(join(folder, file)).size, packages: Object.keys(packages) }
}
