import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild, stopChild } from '../child-process.mjs'
import { printProgress, Refusal } from '../progress.mjs'
import { sourceFiles, sourcePlaces, textFiles } from '../sources.mjs'
import { transpile, transpiledFile } from '../transpile.mjs'
import { createReach } from './imports.mjs'

/** What starts a server or a process, or needs one. A test that reaches none of it by its imports is a unit test. */
const servers =
  /^(test\/(helpers\/(servers|proxies)|contract|browser)\/|scripts\/sandbox\/http-server[.]ts$|node:child_process$)/
/** An editor writes several files, or one several times. */
const collectMs = 100
const stopMs = 5_000
/** The process of AVA, the last one that was started. */
let runner

/**
 * Runs unit tests: without a build, PostgreSQL or Redis. With `--watch` again after each change, those it can concern.
 * @param {readonly string[]} args test files, by default all, and options of AVA
 * @returns {Promise<number>} the exit code
 */
export async function runUnitTests(args) {
  const isOption = (argument) => argument.startsWith('-')
  const options = args.filter((argument) => isOption(argument) && argument !== '--watch')
  const named = args.filter((argument) => !isOption(argument)).map((file) => relative('.', file))
  const choose = () => chooseTests(named)
  stopOnSignal()
  return args.includes('--watch') ? runOnChange(choose, options) : run(choose(), options)
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

async function run(tests, options) {
  await transpile(new Set([...textFiles(), ...tests.flatMap(({ sources }) => [...sources])]))
  const ava = ['scripts/bootstrap/ava.mjs', ...tests.map(({ file }) => transpiledFile(file))]
  runner = startChild({ command: process.execPath, args: [...ava, ...options], signal: 'SIGTERM' })
  const [code] = await once(runner, 'exit')
  return code ?? 1
}

/** The listeners are never removed: a signal that arrives while one is removed would be lost. */
function stopOnSignal() {
  const stop = () => void stopChild(runner, stopMs).then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
}

/** Runs all at first, then after each change the tests that reach a changed file. Ends by a signal only. */
async function runOnChange(choose, options) {
  const changed = new Set()
  let wake = () => undefined
  for (const place of sourcePlaces().filter((path) => !path.endsWith('.ts')))
    watch(place, { recursive: true }, (_event, name) => {
      if (name !== null) changed.add(join(place, name))
      wake()
    })
  await run(choose(), options)
  for (;;) {
    printProgress('waiting for a change')
    if (changed.size === 0)
      await new Promise((resolve) => {
        wake = resolve
      })
    await sleep(collectMs)
    const files = [...changed]
    changed.clear()
    const concerned = choose().filter(({ sources }) => files.some((file) => sources.has(file)))
    if (concerned.length > 0) await run(concerned, options)
  }
}
