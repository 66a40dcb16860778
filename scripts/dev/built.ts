import { resolve } from 'node:path'
import { opsProgram } from '../bootstrap/ops.mjs'

/** The folder of the compiled code: tests of the bundle (scripts/bootstrap/bundle-tests.mjs) use the bundle's programs. */
const built = import.meta.filename.includes('/dist/bundled/') ? 'dist/bundled' : 'dist'

export const webProgram = `${built}/src/web.js`
export const workersProgram = `${built}/workers/main.js`
export const residentCommands = resolve(built, 'scripts/kit/resident-commands.js')

/** Where an operators' command is imported from. As a program it is always that of `dist`. */
export function commandModule(name: string): string {
  return resolve(opsProgram(name).replace(/^dist/, built))
}
