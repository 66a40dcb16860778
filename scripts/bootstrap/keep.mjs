import { spawn } from 'node:child_process'

/**
 * A shell that runs one command and ends it when its own stdin closes. The operating system closes that pipe when
 * the process at the other end is gone, even by SIGKILL, so nothing outlives whoever started it. The command shares
 * the pipe as its stdin, its exit status is handed on, and one that ignores its signal for 20 s is killed.
 */
const keeper = `
unset KEEPER
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
 * Starts a command that cannot outlive this process. It leads its own process group, so Ctrl-C in a terminal
 * reaches this process alone, which then stops the others in its own order; close its stdin to stop it.
 * @param {{ command: string, args: readonly string[], signal: 'SIGTERM' | 'SIGINT', env?: NodeJS.ProcessEnv, cwd?: string, uid?: number, gid?: number }} program
 * @param {number | 'inherit' | 'pipe'} stdout where the command writes: a file descriptor, ours, or a pipe to us
 * @param {number | 'inherit'} stderr
 */
export function keep({ command, args, signal, env, ...options }, stdout = 'inherit', stderr = 'inherit') {
  // The script travels in the environment, so that a list of processes shows what is run and not how it is kept.
  return spawn('/bin/sh', ['-c', 'eval "$KEEPER"', signal.slice('SIG'.length), command, ...args], {
    ...options,
    env: { ...(env ?? process.env), KEEPER: keeper },
    detached: true,
    stdio: ['pipe', stdout, stderr],
  })
}

/**
 * Ends a kept command: politely, and after so many milliseconds by killing its whole group.
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} milliseconds
 * @returns {Promise<void>} when it is gone
 */
export function endKept(child, milliseconds) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
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
