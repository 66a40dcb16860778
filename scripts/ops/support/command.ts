import { realpathSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { ConfigError } from '../../../src/platform/config/read-settings.js'
import { isDatabaseUnavailable } from '../../../src/platform/database/database.js'
import { loadDotenv, loadStackSettings } from '../../bootstrap/settings.mjs'
import { type Arguments, commonOptions, type DescribedOption, parseVerb, type Values } from './arguments.js'
import { RefusedError, UnconfirmedError, UsageError } from './errors.js'
import { jsonText, Order } from './order.js'

/** What a command prints: `text` for people and, with --json, `json` for programs, in which amounts are decimal text. */
export interface Outcome {
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
  /** False when the command found a problem; exit code 4. */
  readonly ok?: boolean
}

export interface Command<Options extends Arguments> {
  /** Usage, every option and the exit codes. */
  readonly help: string
  readonly options: Options
  /** Whether it takes arguments that are not options. */
  readonly allowPositionals?: boolean
  /** The commands of a subject. The first argument names one, which gets the others. */
  readonly verbs?: Verbs
  run(values: Values<Options>, order: Order, positionals: readonly string[]): Promise<Outcome>
}

type Verbs = Readonly<Record<string, Omit<Command<never>, 'options'> & { readonly options: Arguments }>>

const exitCodes = { done: 0, failed: 1, usage: 2, unconfirmed: 3, problem: 4, unavailable: 5 } as const
type ExitReason = keyof typeof exitCodes

/** The exit codes, for the help of every command. */
const exitHelp = `Exit codes: 0 done, planned or nothing to do; 1 refused or failed; 2 wrong arguments; 3 --confirm is missing or wrong;
4 the command found a problem; 5 the database or the provider is unavailable, try again later.
`

/** The usage, the options in one column, and the exit codes. */
function helpOf({
  usage,
  options,
  amounts,
}: Pick<Definition<Arguments>, 'usage' | 'options' | 'amounts'>): string {
  const described = [
    ...Object.values(options).flatMap((option) => ('label' in option ? [option as DescribedOption] : [])),
    {
      label: '--json',
      help: `print one line of JSON${amounts === undefined ? '' : `; amounts are ${amounts} as decimal text`}`,
    },
    { label: '--help', help: 'print this text' },
  ]
  const width = Math.max(...described.map(({ label }) => label.length))
  const indented = (text: string) => text.replaceAll('\n', `\n${' '.repeat(width + 4)}`)
  const lines = described.map(({ label, help }) => `  ${label.padEnd(width)}  ${indented(help)}`)
  return `${usage}\n\n${lines.join('\n')}\n\n${exitHelp}`
}

/** How a command ended: the exit code, and what it prints to standard output and standard error. */
export interface Answer {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A command as its file declares it. `usage`: its help up to the options. `amounts`: the units of amounts in JSON. */
interface Definition<Options extends Arguments> extends Omit<Command<Options>, 'help'> {
  readonly usage: string
  readonly amounts?: string
}

/**
 * Defines the command of a file, as its last statement, and runs it when that file is the program. It then prints one answer to
 * standard output, and errors to standard error. With --json it prints one object to standard output in every case; for an error
 * that is `ok` (false), `error` and `exitCode`.
 */
export async function defineCommand<Options extends Arguments>(
  module: ImportMeta,
  definition: Definition<Options>,
): Promise<Command<Options>> {
  const command = { ...definition, help: helpOf(definition) }
  const program = process.argv[1]
  if (program === undefined || realpathSync(program) !== module.filename) return command
  const { code, out, err } = await answerCommand(command, process.argv.slice(2))
  process.exitCode = code
  process.stderr.write(err)
  process.stdout.write(out)
  return command
}

/**
 * Defines the commands about one subject, each in a file of the subject's folder. The name of that file works as well, for scripts
 * that are older than the subject. The first line of `usage` says what the subject is.
 */
export function defineSubject(
  module: ImportMeta,
  usage: string,
  verbs: Verbs,
): Promise<Command<Record<string, never>>> {
  const each = Object.values(verbs).map(({ help }) => help.split('\n\n')[0])
  return defineCommand(module, {
    usage: `${usage}\n\n${each.join('\n')}\n\n<verb> --help explains each.`,
    options: {},
    verbs,
    async run() {
      throw new UsageError(`give one of ${Object.keys(verbs).join(', ')}; --help explains them`)
    },
  })
}

/** Runs a command with the settings of this process. */
export async function answerCommand<Options extends Arguments>(
  command: Command<Options>,
  args: readonly string[],
): Promise<Answer> {
  try {
    const [first = '-', ...rest] = args
    if (command.verbs !== undefined && !first.startsWith('-')) {
      const verb = command.verbs[parseVerb(first, Object.keys(command.verbs))]
      return await answerCommand(verb as Command<Arguments>, rest)
    }
    const { values, positionals } = readArguments(command, args)
    if (values['help'] === true) return { code: exitCodes.done, out: command.help, err: '' }
    loadLocalSettings()
    const {
      text,
      json,
      ok = true,
    } = await command.run(values as Values<Options>, new Order(values), positionals)
    const out = values['json'] === true ? `${jsonText({ ok, ...json })}\n` : `${text}\n`
    return { code: exitCodes[ok ? 'done' : 'problem'], out, err: '' }
  } catch (error) {
    return answerError(error, command.help, args)
  }
}

/** Finds the settings of a running `npm run dev` when the compiled command is started without `npm run ops`. */
function loadLocalSettings(): void {
  if (process.env['DATABASE_URL']) return
  loadDotenv()
  loadStackSettings()
}

function answerError(error: unknown, help: string, args: readonly string[]): Answer {
  const reason = exitReasonOf(error)
  const code = exitCodes[reason]
  const message = messageOf(error)
  // A command that needs arguments and got none prints its help too.
  const err = reason === 'usage' && args.length === 0 ? `${message}\n\n${help}` : `${message}\n`
  if (!asksForJson(args)) return { code, out: '', err }
  const more = error instanceof RefusedError ? error.json : {}
  return { code, out: `${jsonText({ ok: false, ...more, error: message, exitCode: code })}\n`, err }
}

function messageOf(error: unknown): string {
  const isOurs =
    exitReasonOf(error) !== 'failed' || error instanceof RefusedError || error instanceof ConfigError
  return isOurs ? (error as Error).message : String(error)
}

/** Works on the raw arguments, because they may be what could not be parsed. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? args.length : end).includes('--json')
}

function exitReasonOf(error: unknown): ExitReason {
  if (error instanceof UsageError) return 'usage'
  if (error instanceof UnconfirmedError) return 'unconfirmed'
  const noAnswer = error instanceof ProviderError && error.kind !== 'rejected'
  return noAnswer || isDatabaseUnavailable(error) ? 'unavailable' : 'failed'
}

function readArguments<Options extends Arguments>(
  { options, allowPositionals = false }: Command<Options>,
  args: readonly string[],
): { values: Record<string, unknown>; positionals: readonly string[] } {
  try {
    const allOptions = { ...options, ...commonOptions }
    return parseArgs({ args: [...args], options: allOptions, strict: true, allowPositionals })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n--help lists the options`)
  }
}
