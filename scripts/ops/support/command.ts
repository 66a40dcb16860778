import { realpathSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { ConfigError } from '../../../src/platform/config/read-settings.js'
import { isDatabaseUnavailable } from '../../../src/platform/database/connections/unavailable.js'
import { didYouMean } from '../../bootstrap/did-you-mean.mjs'
import { loadDotenv, loadStackSettings } from '../../bootstrap/settings.mjs'
import { jsonText, Order, RefusedError, UnconfirmedError, UsageError } from './order.js'

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

export type Arguments = NonNullable<ParseArgsConfig['options']>

/** Options of every command. */
const commonOptions = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
} as const satisfies Arguments

/** An option with what its help says: the name with its value, such as `--reason <text>`, and a text. */
interface DescribedOption {
  readonly type: 'string' | 'boolean'
  readonly label: string
  readonly help: string
}

type NameOf<Label> = Label extends `--${infer Name} <${string}`
  ? Name
  : Label extends `--${infer Name}`
    ? Name
    : never
type TypeOf<Label> = Label extends `${string} <${string}` ? 'string' : 'boolean'
type Declared<Texts> = {
  readonly [Label in keyof Texts & string as NameOf<Label>]: DescribedOption & {
    readonly type: TypeOf<Label>
  }
}
type Joined<Common, Own> = { readonly [Name in keyof (Common & Own)]: (Common & Own)[Name] }

/**
 * Declares the options of a command by what its help says: `--message <text>` takes a text, `--all` takes none. `common`: the sets
 * below. The command's own come first in the help, and their words replace those of the set.
 */
export function defineOptions<Common extends Arguments, const Texts extends Readonly<Record<string, string>>>(
  common: Common,
  texts: Texts,
): Joined<Omit<Common, keyof Declared<Texts>>, Declared<Texts>> {
  const own = Object.entries(texts).map(([label, help]): [string, DescribedOption] => [
    label.replace(/^--| <.*$/g, ''),
    { type: label.includes(' <') ? 'string' : 'boolean', label, help },
  ])
  const declared = { ...Object.fromEntries(own), ...common, ...Object.fromEntries(own) }
  return declared as unknown as Joined<Omit<Common, keyof Declared<Texts>>, Declared<Texts>>
}

/** Options of commands that change something. Without `apply` they only show the plan. */
export const applyOptions = defineOptions(
  {},
  {
    '--apply': 'do it',
    '--as <name>': 'your name for the audit log; default: the user of the operating system',
  },
)

/** The same of commands that write a reason to the audit log. */
export const reasonedOptions = defineOptions(applyOptions, {
  '--reason <text>': 'why, for the audit log, such as a ticket; required with --apply',
})

/** Options of commands that change what cannot be taken back. Each says itself what --confirm repeats. */
export const finalOptions = { ...reasonedOptions, confirm: { type: 'string' } } as const satisfies Arguments

/** The parsed values of a command's options. */
export type Values<Options extends Arguments> = ReturnType<
  typeof parseArgs<{ options: Options & typeof commonOptions; strict: true }>
>['values']

/** Throws UsageError unless `given` is one of the verbs. */
export function parseVerb<Verb extends string>(given: string | undefined, verbs: readonly Verb[]): Verb {
  const verb = verbs.find((one) => one === given)
  if (verb !== undefined) return verb
  throw new UsageError(
    given === undefined
      ? `give one of ${verbs.join(', ')}; --help explains them`
      : `unknown command ${given}. ${didYouMean(given, verbs)}`,
  )
}

/** The one of these options that is given. Throws UsageError when there are more. */
export function givenOption<Name extends string>(
  values: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
): Name | undefined {
  const [name, ...others] = names.filter((one) => values[one] !== undefined)
  if (others.length > 0) throw new UsageError(`give only one of ${names.map((one) => `--${one}`).join(', ')}`)
  return name
}

/** Throws UsageError unless the text is a whole number within the bounds. */
export function wholeNumber(option: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max && text.trim() !== '') return value
  throw new UsageError(`${option} needs a whole number from ${min} to ${max}`)
}

/** Throws UsageError unless the text is a time in the past. */
export function pastTime(option: string, text: string): Date {
  const time = new Date(text)
  if (time <= new Date()) return time
  throw new UsageError(`${option} needs a time in the past`)
}

/** The one argument that is no option. Throws UsageError. */
export function onlyArgument(positionals: readonly string[], what: string): string {
  const [one, ...more] = positionals
  if (one === undefined || more.length > 0) throw new UsageError(`give exactly one ${what}`)
  return one
}

/** Throws UsageError when there is an argument that is no option. */
export function noArguments(positionals: readonly string[]): void {
  if (positionals.length > 0)
    throw new UsageError(`only options may follow here, not ${positionals.join(' ')}`)
}
