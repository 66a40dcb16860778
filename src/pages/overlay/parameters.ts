/** A parameter of the overlay's URL. A missing or invalid text has the default value. */
interface Parameter<Value> {
  readonly name: string
  readonly value: Value
  readonly read: (text: string) => Value | undefined
}

/** A number outside of its range is the nearest one that is allowed. */
const number = (name: string, value: number, least: number, most: number): Parameter<number> => ({
  name,
  value,
  read(text) {
    const given = Number(text)
    return text.trim() !== '' && Number.isFinite(given) ? Math.min(Math.max(given, least), most) : undefined
  },
})
const flag = (name: string, value: boolean): Parameter<boolean> => ({
  name,
  value,
  read: (text) => (text === '1' || text === '0' ? text === '1' : undefined),
})
const text = <Value extends string | undefined>(
  name: string,
  value: Value,
  read: Parameter<Value>['read'],
): Parameter<Value> => ({ name, value, read })
/** The first choice is the default. */
const oneOf = <Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]) =>
  text<Choice>(name, choices[0], (given) => choices.find((choice) => choice === given))

const positions = ['bottom', 'top', 'left', 'right', 'center'] as const
const animations = ['slide', 'fade', 'pop', 'none'] as const
const themes = ['dark', 'light'] as const
const templateLength = 200
const queue = number('queue', 50, 1, 500)

/** Only a missing or wrong wallet is an error. */
const parameters = {
  wallet: text<string | undefined>('wallet', undefined, (given) => given.trim() || undefined),
  durationMs: number('duration', 7000, 1000, 60_000),
  gapMs: number('gap', 600, 0, 60_000),
  minUsd: number('min', 0, 0, 1e6),
  template: text<string>(
    'template',
    '{sender} tipped {amount} {token}',
    (given) => given.slice(0, templateLength).trim() || undefined,
  ),
  message: flag('message', true),
  position: oneOf('position', positions),
  animation: oneOf('animation', animations),
  sound: flag('sound', false),
  volume: number('volume', 0.5, 0, 1),
  /** `#rrggbb`; without the `#` too, because it is easily lost in a URL. */
  accent: text<string>('accent', '#7c5cff', (given) => {
    const digits = /^#?([0-9a-f]{6})$/i.exec(given.trim())?.[1]
    return digits && `#${digits.toLowerCase()}`
  }),
  theme: oneOf('theme', themes),
  scale: number('scale', 1, 0.25, 4),
  /** At most so many tips wait. Further tips are summed up in one alert. */
  queue: { ...queue, read: (given: string) => Math.round(queue.read(given) ?? queue.value) },
  /** A missed tip that is older than this is not shown. */
  replayMinutes: number('replay', 10, 0, 1440),
  /** Holds alerts back while the streaming program reports that the source is not shown. */
  hold: flag('hold', true),
  /** Shows a dot after a minute without a connection. */
  dot: flag('dot', true),
  test: flag('test', false),
  /** Set by the dashboard's preview: stores no cursor, because an overlay in the same browser would read it. */
  preview: flag('preview', false),
}

export type Parameters = { readonly [Key in keyof typeof parameters]: (typeof parameters)[Key]['value'] }

const all = Object.entries(parameters) as [keyof Parameters, Parameter<Parameters[keyof Parameters]>][]

export const defaults = Object.fromEntries(all.map(([key, { value }]) => [key, value])) as Parameters

export function readParameters(query: URLSearchParams): Parameters {
  const read = all.map(([key, parameter]) => {
    const given = query.get(parameter.name)
    return [key, (given === null ? undefined : parameter.read(given)) ?? parameter.value]
  })
  return Object.fromEntries(read)
}

/** Writes a query string without the parameters that have their default value. */
export function writeParameters(given: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [key, { name, value: usual }] of all) {
    const value = given[key]
    if (value === undefined || value === usual) continue
    query.set(name, typeof value === 'boolean' ? String(Number(value)) : String(value))
  }
  return query
}
