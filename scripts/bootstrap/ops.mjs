import { readdirSync, readFileSync } from 'node:fs'
import { didYouMean } from './did-you-mean.mjs'
import { Refusal } from './progress.mjs'

/** Every compiled file directly in here is an operators' command. */
const folder = 'dist/scripts/ops'

/** The operators' commands end with the same exit code for wrong arguments. */
export const wrongArguments = 2

/** The compiled file of an operators' command. @param {string} name */
export function opsProgram(name) {
  const names = opsNames()
  if (!names.includes(name))
    throw new Refusal(
      `no operators' command is called ${name}. ${didYouMean(name, names)} npm run ops lists them`,
      wrongArguments,
    )
  return `${folder}/${name}.js`
}

/** Help: every operators' command with the first line of its comment. */
export function opsHelp() {
  const names = opsNames()
  const width = Math.max(0, ...names.map((name) => name.length))
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${summary(name)}`.trimEnd())
  return `npm run ops -- <command> [arguments], --help for each\n${lines.join('\n')}\n`
}

function opsNames() {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.js'))
    .map((file) => file.slice(0, -'.js'.length))
    .sort()
}

function summary(name) {
  const comment = /\/\*\*?\s*(?:\* )?(.*)|^\/\/ (.*)/m.exec(readFileSync(`${folder}/${name}.js`, 'utf8'))
  return (comment?.[1] ?? comment?.[2] ?? '').replace(/\s*\*\/$/, '')
}
