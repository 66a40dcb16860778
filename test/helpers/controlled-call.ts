import { setImmediate as nextTurn } from 'node:timers/promises'

interface Settle<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/** A call that was made and ends when the test says so. */
export interface PendingCall<Input, Result> extends Settle<Result> {
  readonly input: Input
}

/**
 * An asynchronous function whose every call the test sees and ends itself. `next` is the next call not yet
 * seen, made or to come.
 */
export function controlled<Input, Result>() {
  const calls: PendingCall<Input, Result>[] = []
  const awaiting: ((call: PendingCall<Input, Result>) => void)[] = []
  let made = 0
  return {
    run: (input: Input): Promise<Result> =>
      new Promise((resolve, reject) => {
        made += 1
        const call = { input, resolve, reject }
        const waiter = awaiting.shift()
        if (waiter === undefined) calls.push(call)
        else waiter(call)
      }),
    next: (): Promise<PendingCall<Input, Result>> => {
      const call = calls.shift()
      return call === undefined ? new Promise((resolve) => awaiting.push(resolve)) : Promise.resolve(call)
    },
    get made(): number {
      return made
    },
  }
}

/** Lets everything run that needs no outside event: what has not happened after this waits for somebody. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn()
}
