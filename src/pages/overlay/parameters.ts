/** The overlay's URL parameters; the dashboard's form writes them. Only a missing or wrong wallet is an error. */
export interface Parameters {
  readonly wallet: string | undefined
  readonly durationMs: number
  readonly gapMs: number
  /** Smallest value of a tip that is shown, USD. */
  readonly minUsd: number
  readonly template: string
  /** Whether supporters' messages are shown. */
  readonly message: boolean
  readonly position: (typeof positions)[number]
  readonly animation: (typeof animations)[number]
  readonly sound: boolean
  /** 0 to 1. */
  readonly volume: number
  /** `#rrggbb`. */
  readonly accent: string
  readonly theme: (typeof themes)[number]
  readonly scale: number
  /** At most so many tips wait. Further tips are summed up in one alert. */
  readonly queue: number
  /** A missed tip that is older than this is not shown. */
  readonly replayMinutes: number
  /** Holds alerts back while the streaming program reports that the source is not shown. */
  readonly hold: boolean
  /** Shows a dot after a minute without a connection. */
  readonly dot: boolean
  /** Shows a sample every ten seconds. */
  readonly test: boolean
  /** Set by the dashboard's preview: stores no cursor, because an overlay in the same browser would read it. */
  readonly preview: boolean
}

export const positions = ['bottom', 'top', 'left', 'right', 'center'] as const
export const animations = ['slide', 'fade', 'pop', 'none'] as const
export const themes = ['dark', 'light'] as const

export const defaults: Parameters = {
  wallet: undefined,
  durationMs: 7000,
  gapMs: 600,
  minUsd: 0,
  template: '{sender} tipped {amount} {token}',
  message: true,
  position: 'bottom',
  animation: 'slide',
  sound: false,
  volume: 0.5,
  accent: '#7c5cff',
  theme: 'dark',
  scale: 1,
  queue: 50,
  replayMinutes: 10,
  hold: true,
  dot: true,
  test: false,
  preview: false,
}

const templateLength = 200

/** Reads a query string. A missing or invalid parameter has its default value. */
export function readParameters(query: URLSearchParams): Parameters {
  const number = (name: string, least: number, most: number, otherwise: number): number => {
    const text = query.get(name)?.trim()
    const value = Number(text)
    return text && Number.isFinite(value) ? Math.min(Math.max(value, least), most) : otherwise
  }
  const flag = (name: string, otherwise: boolean): boolean => {
    const text = query.get(name)
    return text === '1' || text === '0' ? text === '1' : otherwise
  }
  return {
    wallet: query.get('wallet')?.trim() || undefined,
    durationMs: number('duration', 1000, 60_000, defaults.durationMs),
    gapMs: number('gap', 0, 60_000, defaults.gapMs),
    minUsd: number('min', 0, 1e6, defaults.minUsd),
    template: query.get('template')?.slice(0, templateLength).trim() || defaults.template,
    message: flag('message', defaults.message),
    position: oneOf(positions, query.get('position'), defaults.position),
    animation: oneOf(animations, query.get('animation'), defaults.animation),
    sound: flag('sound', defaults.sound),
    volume: number('volume', 0, 1, defaults.volume),
    accent: parseAccent(query.get('accent')) ?? defaults.accent,
    theme: oneOf(themes, query.get('theme'), defaults.theme),
    scale: number('scale', 0.25, 4, defaults.scale),
    queue: Math.round(number('queue', 1, 500, defaults.queue)),
    replayMinutes: number('replay', 0, 1440, defaults.replayMinutes),
    hold: flag('hold', defaults.hold),
    dot: flag('dot', defaults.dot),
    test: flag('test', defaults.test),
    preview: flag('preview', defaults.preview),
  }
}

/** Writes a query string without the parameters that have their default value. */
export function writeParameters(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [key, name] of Object.entries(names) as [keyof Parameters, string][]) {
    const value = parameters[key]
    if (value === undefined || value === defaults[key]) continue
    query.set(name, typeof value === 'boolean' ? String(Number(value)) : String(value))
  }
  return query
}

/** The name of each parameter in the query string. */
const names: Readonly<Record<keyof Parameters, string>> = {
  wallet: 'wallet',
  durationMs: 'duration',
  gapMs: 'gap',
  minUsd: 'min',
  template: 'template',
  message: 'message',
  position: 'position',
  animation: 'animation',
  sound: 'sound',
  volume: 'volume',
  accent: 'accent',
  theme: 'theme',
  scale: 'scale',
  queue: 'queue',
  replayMinutes: 'replay',
  hold: 'hold',
  dot: 'dot',
  test: 'test',
  preview: 'preview',
}

function oneOf<Choice extends string>(
  choices: readonly Choice[],
  text: string | null,
  otherwise: Choice,
): Choice {
  return choices.find((choice) => choice === text) ?? otherwise
}

/** Takes `#7c5cff` and `7c5cff`, because a `#` in a URL is easily lost. */
function parseAccent(text: string | null): string | undefined {
  const digits = /^#?([0-9a-f]{6})$/i.exec(text?.trim() ?? '')?.[1]
  return digits === undefined ? undefined : `#${digits.toLowerCase()}`
}
