/** Prints how far a command is to standard error, at most every two seconds. */
export function createProgress(): (text: string) => void {
  let last = performance.now()
  return (text) => {
    if (performance.now() - last < 2000) return
    last = performance.now()
    process.stderr.write(`${text}\n`)
  }
}
