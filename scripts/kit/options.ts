import { parseArgs } from 'node:util'
import { Refusal } from '../bootstrap/progress.mjs'

/** The options of a run with their defaults: a whole number from 1 (0: none is given), a text, or a flag. */
export type OptionDefaults = Readonly<Record<string, number | string | boolean>>

/** Reads options after the name of a run. Throws a Refusal. */
export function readOptions<Options extends OptionDefaults>(
  args: readonly string[],
  defaults: Options,
): { readonly options: { [name in keyof Options]: Widened<Options[name]> }; readonly names: string[] } {
  const declared = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      { type: typeof value === 'boolean' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { values, positionals } = parsed(args, declared)
  const read = Object.entries(defaults).map(([name, usual]) => {
    const given = values[name]
    if (given === undefined) return [name, usual]
    return [name, typeof usual === 'number' ? whole(name, String(given)) : given]
  })
  return { options: Object.fromEntries(read), names: positionals }
}

type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : string

/** The options as a usage shows them: `[--kills 1000] [--ref <text>]`. */
export function usageOf(defaults: OptionDefaults): string {
  return Object.entries(defaults)
    .map(([name, value]) => {
      if (typeof value === 'boolean') return `[--${name}]`
      return `[--${name} ${value || (typeof value === 'number' ? '<n>' : `<${name}>`)}]`
    })
    .join(' ')
}

/** The options that are not the defaults, as they are typed: ` --kills 20`. */
export function unusualOptions(given: Readonly<Record<string, unknown>>, defaults: OptionDefaults): string {
  return Object.entries(defaults)
    .filter(([name, usual]) => given[name] !== usual)
    .map(([name, usual]) => (typeof usual === 'boolean' ? ` --${name}` : ` --${name} ${given[name]}`))
    .join('')
}

function parsed(args: readonly string[], options: Record<string, { type: 'boolean' | 'string' }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message : String(error))
  }
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`--${name} is a whole number from 1`)
  return value
}
