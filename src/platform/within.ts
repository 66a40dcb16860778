/** What `work` results in, or undefined after `ms`. The work itself goes on. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(done, ms, undefined)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
