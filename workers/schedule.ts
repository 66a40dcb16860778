import cron from 'node-cron'

/** A task and when it runs, as in cron, with seconds. */
export type Scheduled = readonly [name: string, times: string, run: () => Promise<unknown>]

const lookMs = 1000
/** Less is corrected by the next run. */
const stepMs = 1000

/**
 * Runs tasks at their times. cron waits for the time at which a task is due next; when somebody sets the wall clock back meanwhile, that is
 * hours away. So the tasks are scheduled anew when the wall clock steps. Returns how to stop.
 */
export function schedule(
  tasks: readonly Scheduled[],
  onError: (error: unknown, task: string) => void,
): () => Promise<void> {
  const running = tasks.map(([name, times, run]) =>
    cron.schedule(
      times,
      () =>
        run().then(
          () => undefined,
          (error: unknown) => onError(error, name),
        ),
      { name, noOverlap: true },
    ),
  )
  let offset = Date.now() - performance.now()
  const timer = setInterval(() => {
    const before = offset
    offset = Date.now() - performance.now()
    if (Math.abs(offset - before) > stepMs)
      for (const task of running) void startAnew(task).catch((error: unknown) => onError(error, 'schedule'))
  }, lookMs)
  return async () => {
    clearInterval(timer)
    await Promise.all(running.map((task) => task.destroy()))
  }
}

async function startAnew(task: ReturnType<typeof cron.schedule>): Promise<void> {
  await task.stop()
  await task.start()
}
