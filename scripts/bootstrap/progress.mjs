import { spawn } from 'node:child_process'
import { startChild, stopChild } from './child-process.mjs'

/** A problem with the machine or the command line. Printed as one line, without a stack trace. */
export class Refusal extends Error {
  name = 'Refusal'

  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Prints one line with the seconds since the command began. The default is stderr, because stdout belongs to the program
 * that is started.
 * @param {string} text
 * @param {NodeJS.WritableStream} stream
 */
export function printProgress(text, stream = process.stderr) {
  stream.write(`${process.uptime().toFixed(1).padStart(6)} s  ${text}\n`)
}

const stillRunningMs = 10_000
const stopMs = 5_000

/** @type {Set<{ child: import('node:child_process').ChildProcess, interruptible: boolean }>} */
const running = new Set()

/**
 * Runs a command to its end. Prints every ten seconds that it still runs.
 * @param {string} title
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, interruptible?: boolean }} [options] an installation by a package manager is not
 *   interruptible, since an incomplete one is worse than waiting for its end
 * @returns {Promise<number>} its exit status
 */
export async function run(title, command, args, { env = {}, interruptible = true } = {}) {
  printProgress(title)
  const began = Date.now()
  const child = start(command, args, { ...process.env, ...env }, interruptible)
  const entry = { child, interruptible }
  running.add(entry)
  const timer = setInterval(
    () => printProgress(`${title}: still running after ${Math.round((Date.now() - began) / 1000)} s`),
    stillRunningMs,
  )
  const status = await new Promise((resolve) => {
    child.once('error', () => resolve(127))
    child.once('exit', (code) => resolve(code ?? 1))
  })
  clearInterval(timer)
  running.delete(entry)
  child.stdin?.end()
  return status
}

function start(command, args, env, interruptible) {
  if (interruptible) return startChild({ command, args, signal: 'SIGTERM', env }, process.stderr.fd)
  const { fd } = process.stderr
  return spawn(command, args, { env, detached: true, stdio: ['ignore', fd, fd] })
}

/** Stops the commands of `run`. Waits for those that are not interruptible. @returns {Promise<void>} */
export async function stopRunning() {
  await Promise.all(
    [...running].map(({ child, interruptible }) =>
      interruptible ? stopChild(child, stopMs) : new Promise((resolve) => child.once('exit', resolve)),
    ),
  )
}
