import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { didYouMean } from './did-you-mean.mjs'
import { Refusal } from './progress.mjs'

/** Every compiled file in here is an operators' command, except those in the folder `support`. */
const folder = 'dist/scripts/ops'

/** The operators' commands end with the same exit code for wrong arguments. */
export const wrongArguments = 2

/** The compiled file of an operators' command. @param {string} name */
export function opsProgram(name) {
  const programs = opsPrograms()
  const program = programs.get(name)
  if (program === undefined)
    throw new Refusal(
      `no operators' command is called ${name}. ${didYouMean(name, [...programs.keys()])} npm run ops lists them`,
      wrongArguments,
    )
  return program
}

/** Help: every operators' command with the first line of its comment. */
export function opsHelp() {
  const programs = [...listedPrograms()]
  const width = Math.max(0, ...programs.map(([name]) => name.length))
  const lines = programs.map(([name, file]) => `  ${name.padEnd(width)}  ${summary(file)}`.trimEnd())
  return `npm run ops -- <command> [arguments], --help for each\n${lines.join('\n')}\n`
}

/** The commands without those that belong to a subject: these have its name and a verb, and their own names for older scripts. */
export function listedPrograms() {
  return new Map([...opsPrograms()].filter(([, file]) => !existsSync(`${dirname(file)}.js`)))
}

/** The compiled files by the names of their commands, in the order of the names. */
export function opsPrograms() {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.js') && !file.startsWith('support/'))
  const named = files.map((file) => /** @type {const} */ ([basename(file, '.js'), `${folder}/${file}`]))
  return new Map(named.sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** @param {string} file */
function summary(file) {
  const comment = /\/\*\*?\s*(?:\* )?(.*)|^\/\/ (.*)/m.exec(readFileSync(file, 'utf8'))
  return (comment?.[1] ?? comment?.[2] ?? '').replace(/\s*\*\/$/, '')
}
