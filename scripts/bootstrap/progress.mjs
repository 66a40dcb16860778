import { spawn } from 'node:child_process'
import { endKept, keep } from './keep.mjs'

/** A fault of the machine or of the command line: told in one line, without a stack. */
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
 * One line of progress, with the seconds since the command began; on stderr unless told otherwise, because stdout
 * belongs to the program that is started.
 * @param {string} text
 * @param {NodeJS.WritableStream} stream
 */
export function say(text, stream = process.stderr) {
  stream.write(`${process.uptime().toFixed(1).padStart(6)} s  ${text}\n`)
}

const stillRunningMs = 10_000
const endMs = 5_000

/** @type {Set<{ child: import('node:child_process').ChildProcess, interruptible: boolean }>} */
const running = new Set()

/**
 * Runs a command to its end, and says every ten seconds that it still runs.
 * @param {string} title
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, interruptible?: boolean }} [options] a package manager's installation is not
 *   interruptible: half of one is worse than waiting for it
 * @returns {Promise<number>} its exit status
 */
export async function run(title, command, args, { env = {}, interruptible = true } = {}) {
  say(title)
  const began = Date.now()
  const child = start(command, args, { ...process.env, ...env }, interruptible)
  const entry = { child, interruptible }
  running.add(entry)
  const timer = setInterval(
    () => say(`${title}: still running after ${Math.round((Date.now() - began) / 1000)} s`),
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
  if (interruptible) return keep({ command, args, signal: 'SIGTERM', env }, process.stderr.fd)
  const { fd } = process.stderr
  return spawn(command, args, { env, detached: true, stdio: ['ignore', fd, fd] })
}

/** Ends what `run` has running; waits for what must not be cut off. @returns {Promise<void>} */
export async function endRunning() {
  await Promise.all(
    [...running].map(({ child, interruptible }) =>
      interruptible ? endKept(child, endMs) : new Promise((resolve) => child.once('exit', resolve)),
    ),
  )
}
