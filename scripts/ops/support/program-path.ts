import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const folder = resolve('dist/scripts/ops')
let paths: ReadonlyMap<string, string> | undefined

/** The compiled file of an operators' command: `scripts/bootstrap/ops.mjs` finds it in the same way. */
export function programPath(command: string): string {
  paths ??= new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') && !file.startsWith('support'))
      .map((file) => [basename(file, '.js'), join(folder, file)]),
  )
  const path = paths.get(command)
  if (path === undefined) throw new Error(`no operators' command is called ${command}`)
  return path
}
