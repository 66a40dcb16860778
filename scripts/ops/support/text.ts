/** A duration as one number: minutes below an hour, hours below two days, then days. */
export function formatAge(seconds: number): string {
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** Prints how far a command is to standard error, at most every two seconds. */
export function createProgress(): (text: string) => void {
  let last = performance.now()
  return (text) => {
    if (performance.now() - last < 2000) return
    last = performance.now()
    process.stderr.write(`${text}\n`)
  }
}
