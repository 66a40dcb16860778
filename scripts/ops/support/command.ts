import { userInfo } from 'node:os'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { ConfigError } from '../../../src/platform/config/config.js'
import { isDatabaseUnavailable } from '../../../src/platform/database/database.js'
import { didYouMean } from '../../bootstrap/nearest.mjs'
import { loadDotenv, loadStackSettings } from '../../bootstrap/settings.mjs'

type Arguments = NonNullable<ParseArgsConfig['options']>

/** What every operators' script takes. */
const common = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
} as const satisfies Arguments

/** For scripts that change something: a plan unless told to act, and in whose name. */
export const acting = {
  apply: { type: 'boolean' },
  as: { type: 'string' },
} as const satisfies Arguments

/** For scripts whose reason is asked for later. */
export const reasonOption = { reason: { type: 'string' } } as const satisfies Arguments
const reasonLength = 500

/** What was given for a script's options. */
export type Values<Options extends Arguments> = ReturnType<
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
  /** Whether it takes words besides options. */
  readonly words?: boolean
  run(values: Values<Options>, words: readonly string[]): Promise<Outcome>
}

/** The arguments make no sense together; exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The verb that was given, out of those there are. Throws UsageError. */
export function verbOf<Verb extends string>(given: string | undefined, verbs: readonly Verb[]): Verb {
  const verb = verbs.find((one) => one === given)
  if (verb !== undefined) return verb
  throw new UsageError(
    given === undefined
      ? `one of ${verbs.join(', ')}; --help tells more`
      : `there is no ${given}. ${didYouMean(given, verbs)}`,
  )
}

/** It cannot be done as things are; exit code 1. `json`: what a program is told besides. */
export class CannotDo extends Error {
  override name = 'CannotDo'
  readonly json: Outcome['json']

  constructor(message: string, json: Outcome['json'] = {}) {
    super(message)
    this.json = json
  }
}

/** What cannot be taken back needs to be confirmed; exit code 3. */
class Unconfirmed extends Error {
  override name = 'Unconfirmed'
}

const exitCodes = { done: 0, failed: 1, usage: 2, unconfirmed: 3, found: 4, away: 5 } as const
type Ending = keyof typeof exitCodes

/** What the exit codes mean, for every script's help. */
export const exitHelp = `Exit code 0: done, planned, or nothing to do; 1: it cannot be done, or failed; 2: wrong arguments; 3: it must be
confirmed; 4: something is not as it should be; 5: the database or the provider is away.
`

/**
 * Runs an operators' script: one answer on standard output, faults on standard error. With --json there is one object on
 * standard output however it ended; of a fault `ok` (false), `error` and `exitCode`. Its exit code is as `exitHelp` says.
 */
export async function runCommand<Options extends Arguments>(
  command: Command<Options>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  try {
    const { values, positionals } = readArguments(command, args)
    if (values['help'] === true) {
      process.stdout.write(command.help)
      return
    }
    findSettings()
    const { text, json, ok = true } = await command.run(values as Values<Options>, positionals)
    process.stdout.write(values['json'] === true ? `${JSON.stringify({ ok, ...json })}\n` : `${text}\n`)
    process.exitCode = exitCodes[ok ? 'done' : 'found']
  } catch (error) {
    tellFault(error, command.help, args)
  }
}

/** Finds what `npm run ops` finds, for who starts the compiled script: beside `npm run dev` nobody gives settings by hand. */
function findSettings(): void {
  if (process.env['DATABASE_URL']) return
  loadDotenv()
  loadStackSettings()
}

function tellFault(error: unknown, help: string, args: readonly string[]): void {
  const ending = endingOf(error)
  const exitCode = exitCodes[ending]
  const told = messageOf(error)
  process.exitCode = exitCode
  // Who gives nothing where something is needed wants to know what there is.
  process.stderr.write(ending === 'usage' && args.length === 0 ? `${told}\n\n${help}` : `${told}\n`)
  if (!asksForJson(args)) return
  const more = error instanceof CannotDo ? error.json : {}
  process.stdout.write(`${JSON.stringify({ ok: false, ...more, error: told, exitCode })}\n`)
}

function messageOf(error: unknown): string {
  const ours = endingOf(error) !== 'failed' || error instanceof CannotDo || error instanceof ConfigError
  return ours ? (error as Error).message : String(error)
}

/** Also where the arguments themselves are at fault, and nothing has been read of them. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end === -1 ? args.length : end).includes('--json')
}

function endingOf(error: unknown): Ending {
  if (error instanceof UsageError) return 'usage'
  if (error instanceof Unconfirmed) return 'unconfirmed'
  const unanswered = error instanceof ProviderError && error.kind !== 'rejected'
  return unanswered || isDatabaseUnavailable(error) ? 'away' : 'failed'
}

/** Who acts: as given, else the user of the operating system. */
export function actorOf({ as }: { readonly as?: string | undefined }): string {
  return as?.trim() || userInfo().username
}

/** Why somebody acts, as given. Throws UsageError without one. */
export function reasonOf({ reason }: { readonly reason?: string | undefined }): string {
  const text = reason?.trim() ?? ''
  if (text === '' || text.length > reasonLength)
    throw new UsageError(`--reason says why, in 1 to ${reasonLength} characters`)
  return text
}

/** Why somebody does what cannot be taken back, once they have said what is meant. Throws Unconfirmed, UsageError. */
export function consentTo(
  what: string,
  expected: string,
  { confirm, reason }: { readonly confirm?: string | undefined; readonly reason?: string | undefined },
): string {
  if (confirm !== expected) throw new Unconfirmed(`${what} needs --confirm=${expected}`)
  return reasonOf({ reason })
}

/** The last line of a plan, or of what came of it. `done`: what becomes of it. */
export function concluded(plan: string, done: string, applied: boolean): string {
  return applied ? `${plan}: ${done}` : `${plan}: not ${done}; --apply does it`
}

function readArguments<Options extends Arguments>(
  { options, words = false }: Command<Options>,
  args: readonly string[],
): { values: Record<string, unknown>; positionals: readonly string[] } {
  try {
    const given = { ...options, ...common }
    return parseArgs({ args: [...args], options: given, strict: true, allowPositionals: words })
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n--help tells what there is`)
  }
}
