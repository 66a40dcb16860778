/**
 * Work done once for all who ask while it runs; whoever asks after its end starts it anew. All of them share its
 * result, a failure too.
 */
export function singleFlight<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}
