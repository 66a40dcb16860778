import { spawn } from 'node:child_process'

/**
 * A shell script that runs one command and stops it when stdin closes. The operating system closes that pipe when the
 * parent process ends, even by SIGKILL, so a child never outlives its parent. The command gets the pipe as its stdin. The
 * script returns the command's exit status, and kills a command that ignores its signal for 20 s.
 */
const wrapper = `
unset WRAPPER
signal=$0
exec 3<&0
"$@" <&3 3<&- &
child=$!
(
  read -r line <&3
  kill -"$signal" $child
  checks=0
  while [ $checks -lt 100 ] && kill -0 $child; do sleep 0.2; checks=$((checks + 1)); done
  kill -KILL $child
) 2>/dev/null &
watcher=$!
exec 3<&-
wait $child 2>/dev/null
status=$?
kill $watcher 2>/dev/null
exit $status
`

/**
 * Starts a command that cannot outlive this process. It has its own process group, so Ctrl-C in a terminal only signals
 * this process, which then stops its children in the right order. To stop the command, close its stdin.
 * @param {{ command: string, args: readonly string[], signal: 'SIGTERM' | 'SIGINT', env?: NodeJS.ProcessEnv, cwd?: string, uid?: number, gid?: number }} program
 * @param {number | 'inherit' | 'pipe'} stdout a file descriptor, the stdout of this process, or a pipe
 * @param {number | 'inherit'} stderr
 */
export function startChild(
  { command, args, signal, env, ...options },
  stdout = 'inherit',
  stderr = 'inherit',
) {
  // The script is passed in the environment, so that a process list shows the command and not the script.
  return spawn('/bin/sh', ['-c', 'eval "$WRAPPER"', signal.slice('SIG'.length), command, ...args], {
    ...options,
    env: { ...(env ?? process.env), WRAPPER: wrapper },
    detached: true,
    stdio: ['pipe', stdout, stderr],
  })
}

/**
 * Stops a command: closes its stdin, and kills its process group after `milliseconds`.
 * @param {import('node:child_process').ChildProcess | undefined} child
 * @param {number} milliseconds
 * @returns {Promise<void>} when it has ended
 */
export function stopChild(child, milliseconds) {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve()
  const group = -child.pid
  return new Promise((resolve) => {
    const timer = setTimeout(() => process.kill(group, 'SIGKILL'), milliseconds)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.stdin?.end()
  })
}
