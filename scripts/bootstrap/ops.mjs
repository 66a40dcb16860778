import { readdirSync, readFileSync } from 'node:fs'
import { didYouMean } from './nearest.mjs'
import { Refusal } from './progress.mjs'

/** Every compiled file directly in here is an operators' command. */
const folder = 'dist/scripts/ops'

/** The exit code of the operators' scripts for it. */
export const wrongArguments = 2

/** The compiled file of an operators' script. @param {string} name */
export function opsProgram(name) {
  const names = opsNames()
  if (!names.includes(name))
    throw new Refusal(
      `no operators' script is called ${name}. ${didYouMean(name, names)} npm run ops tells what each does`,
      wrongArguments,
    )
  return `${folder}/${name}.js`
}

/** Help: every operators' script with the first line of its comment. */
export function opsHelp() {
  const names = opsNames()
  const width = Math.max(0, ...names.map((name) => name.length))
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${summary(name)}`.trimEnd())
  return `npm run ops -- <script> [arguments], --help for each\n${lines.join('\n')}\n`
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
