import type { ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../../bootstrap/did-you-mean.mjs'
import { UsageError } from './errors.js'

export type Arguments = NonNullable<ParseArgsConfig['options']>

/** Options of every command. */
export const commonOptions = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
} as const satisfies Arguments

/** An option with what its help says: the name with its value, such as `--reason <text>`, and a text. */
export interface DescribedOption {
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
