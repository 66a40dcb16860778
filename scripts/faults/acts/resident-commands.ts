import { pathToFileURL } from 'node:url'

/**
 * A process that runs operators' commands one after the other: the whole built script with its arguments each time, without
 * the second that a new process needs to start. `OperatorCommands` forks it.
 */
export interface CommandRequest {
  /** The built script. */
  readonly program: string
  readonly args: readonly string[]
}

/** How a command ended. */
export interface CommandEnd {
  readonly code: number
  readonly out: string
  readonly err: string
}

let runs = 0

process.on('message', (request: CommandRequest) => {
  void run(request).then((end) => process.send?.(end))
})

async function run({ program, args }: CommandRequest): Promise<CommandEnd> {
  const printed = { out: '', err: '' }
  const { write } = process.stdout
  const { write: writeError } = process.stderr
  process.stdout.write = (text: string | Uint8Array) => {
    printed.out += String(text)
    return true
  }
  process.stderr.write = (text: string | Uint8Array) => {
    printed.err += String(text)
    return true
  }
  process.argv = [process.execPath, program, ...args]
  process.exitCode = 0
  try {
    // A module runs once per URL. What it imports is shared between runs.
    runs += 1
    await import(`${pathToFileURL(program).href}?run=${runs}`)
    return { code: Number(process.exitCode), ...printed }
  } catch (error) {
    return { code: -1, ...printed, err: `${printed.err}${error}` }
  } finally {
    process.stdout.write = write
    process.stderr.write = writeError
    process.exitCode = 0
  }
}
