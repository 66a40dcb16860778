import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { startChild, stopChild } from '../child-process.mjs'
import { Refusal } from '../progress.mjs'
import { sourceFiles, textFiles } from '../sources.mjs'
import { transpile, transpiledFile } from '../transpile.mjs'
import { createReach } from './imports.mjs'

/** What starts a server or a process, or needs one. A test that reaches none of it by its imports is a unit test. */
const servers =
  /^(test\/(helpers\/(servers|proxies)|contract|browser)\/|scripts\/sandbox\/http-server[.]ts$|node:child_process$)/
const stopMs = 5_000

/**
 * Runs unit tests: without a build, PostgreSQL or Redis.
 * @param {readonly string[]} args test files, by default all, and options of AVA
 * @returns {Promise<number>} the exit code
 */
export async function runUnitTests(args) {
  const isOption = (argument) => argument.startsWith('-')
  const named = args.filter((argument) => !isOption(argument)).map((file) => relative('.', file))
  const tests = chooseTests(named)
  await transpile(new Set([...textFiles(), ...tests.flatMap(({ sources }) => [...sources])]))
  const ava = ['scripts/bootstrap/ava.mjs', ...tests.map(({ file }) => transpiledFile(file))]
  const program = [...ava, ...args.filter(isOption)]
  const runner = startChild({ command: process.execPath, args: program, signal: 'SIGTERM' })
  const stop = () => void stopChild(runner, stopMs).then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
  const [code] = await once(runner, 'exit')
  return code ?? 1
}

/** The named test files, or every one that needs no server, each with the sources it reaches. */
function chooseTests(named) {
  const reach = createReach()
  const tests = named.length > 0 ? named : sourceFiles(/^test[/].*[.]test[.]ts$/)
  const withServers = (file) => {
    const { files, packages } = reach(file)
    return { file, sources: files, server: [...files, ...packages].find((module) => servers.test(module)) }
  }
  const found = tests.map(withServers)
  if (named.length === 0) return found.filter(({ server }) => server === undefined)
  for (const { file, server } of found) {
    if (!existsSync(file)) throw new Refusal(`there is no file ${file}`, 2)
    if (server !== undefined)
      throw new Refusal(`${file} is no unit test, since it needs ${server}: npm test -- ${file}`, 2)
  }
  return found
}
