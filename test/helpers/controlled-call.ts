import { setImmediate as nextTurn } from 'node:timers/promises'

interface Settle<Result> {
  resolve(result: Result): void
  reject(error: unknown): void
}

/** A call that the test resolves or rejects. */
export interface PendingCall<Input, Result> extends Settle<Result> {
  readonly input: Input
}

/** An asynchronous function whose calls the test receives and ends. `next` returns the next call, or waits for it. */
export function createControlledCall<Input, Result>() {
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

/** Runs everything that needs no outside event. What has not happened afterwards is waiting for one. */
export async function runPendingTasks(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn()
}
