import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ConfigError } from '../../src/platform/config.js'
import { Refusal } from '../bootstrap/progress.mjs'

/** What a script found or did. */
export interface Report {
  /** For people; ends without a line break. */
  readonly text: string
  /** The same for programs, printed instead with --json; bigint becomes decimal text. */
  readonly json: unknown
  /** Whether all is as it should be: exit code 0, else 1. */
  readonly ok: boolean
}

type Options = NonNullable<ParseArgsConfig['options']>
type Values<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; strict: true }>
>

export interface OperatorsScript<O extends Options> {
  /** As it is called: `npm run ops -- <name>`. */
  readonly name: string
  /** What it does and takes, one line for each option beyond --help and --json. */
  readonly help: string
  readonly options: O
  readonly run: (given: Values<O>) => Promise<Report>
}

const exit = { ok: 0, notOk: 1, usage: 2 } as const
const common = { help: { type: 'boolean' }, json: { type: 'boolean' } } as const

/**
 * The common shape of operators' scripts: --help explains, --json prints for programs, the exit code is 0 when all
 * is well, 1 when it is not or the work failed, and 2 when the arguments are wrong. A run throws `UsageError` for
 * what only it can tell is wrong.
 */
export async function runOperatorsScript<O extends Options>(script: OperatorsScript<O>): Promise<void> {
  try {
    const given = read(script)
    if (given.values['help'] === true) process.stdout.write(helpOf(script))
    else print(await script.run(given), given.values['json'] === true)
  } catch (error) {
    const usage = error instanceof UsageError
    process.stderr.write(`${messageOf(error)}\n${usage ? `\n${helpOf(script)}` : ''}`)
    process.exitCode = usage ? exit.usage : exit.notOk
  }
}

/** Arguments that no run can be made of. */
export class UsageError extends Error {
  override name = 'UsageError'
}

function read<O extends Options>({ options }: OperatorsScript<O>) {
  try {
    const given = parseArgs({ options: { ...options, ...common }, allowPositionals: true, strict: true })
    return given as Values<O> & { values: Record<string, unknown> }
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

function helpOf({ name, help }: OperatorsScript<Options>): string {
  return `npm run ops -- ${name}\n\n${help}\n  --json   print for programs\n  --help   this text\n`
}

function print({ text, json, ok }: Report, forPrograms: boolean): void {
  const inText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
  process.stdout.write(`${forPrograms ? JSON.stringify(json, inText) : text}\n`)
  process.exitCode = ok ? exit.ok : exit.notOk
}

/** What we expect to go wrong in one line; for anything else an operator needs the stack. */
function messageOf(error: unknown): string {
  const expected = error instanceof UsageError || error instanceof Refusal || error instanceof ConfigError
  if (error instanceof Error && (expected || 'code' in error)) return error.message || String(error)
  return error instanceof Error ? String(error.stack) : String(error)
}
