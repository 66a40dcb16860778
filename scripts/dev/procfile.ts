const workerLine = /^[\w-]+:\s+node dist\/workers\/main\.js\s+([\w-]+)\s*$/

/** The workers a Procfile names, so that what runs here and what runs in production cannot drift apart. */
export function workersOf(procfile: string): string[] {
  return procfile.split('\n').flatMap((line) => workerLine.exec(line)?.[1] ?? [])
}
