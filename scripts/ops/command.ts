import { userInfo } from 'node:os'
import { type ParseArgsConfig, parseArgs } from 'node:util'

type Arguments = NonNullable<ParseArgsConfig['options']>

/** What every operators' script takes. */
const common = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
} as const satisfies Arguments

/** For scripts that change something: a plan unless told to act, and in whose name. */
export const acting = {
  apply: { type: 'boolean' },
  actor: { type: 'string' },
} as const satisfies Arguments

type Values<Options extends Arguments> = ReturnType<
  typeof parseArgs<{ options: Options & typeof common; strict: true }>
>['values']

/** What a script has to say: for a person and, with --json, for a program. */
export interface Outcome {
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
  /** False when what was looked at is not as it should be. */
  readonly ok?: boolean
}

export interface Command<Options extends Arguments> {
  /** Usage, every option and what the exit codes mean. */
  readonly help: string
  readonly options: Options
  run(values: Values<Options>): Promise<Outcome>
}

/** The arguments make no sense together; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** It cannot be done as things are; exit code 1. */
export class CannotDo extends Error {
  override name = 'CannotDo'
}

/**
 * Runs an operators' script: one answer on standard output, faults on standard error. Exit code 0: done, or
 * planned; 1: it cannot be done, something is not as it should be, or it failed; 2: wrong arguments.
 */
export async function runCommand<Options extends Arguments>(
  command: Command<Options>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    const values = readArguments(command.options, args)
    if (values['help'] === true) {
      process.stdout.write(command.help)
      return
    }
    const { text, json, ok = true } = await command.run(values as Values<Options>)
    process.stdout.write(values['json'] === true ? `${JSON.stringify({ ok, ...json })}\n` : `${text}\n`)
    process.exitCode = ok ? 0 : 1
  } catch (error) {
    process.exitCode = error instanceof UsageError ? 2 : 1
    const expected = error instanceof UsageError || error instanceof CannotDo
    process.stderr.write(`${expected ? error.message : String(error)}\n`)
  }
}

/** Who acts: as given, else the user of the operating system. */
export function actorOf({ actor }: { readonly actor?: string | undefined }): string {
  return actor?.trim() || userInfo().username
}

function readArguments(options: Arguments, args: readonly string[]): Record<string, unknown> {
  try {
    return parseArgs({ args: [...args], options: { ...options, ...common }, strict: true }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n--help tells what there is`)
  }
}
