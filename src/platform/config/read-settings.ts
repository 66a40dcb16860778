import type { z } from 'zod'

/** One setting that is missing or bad. The message never contains the value, which may be a secret. */
export interface SettingFault {
  readonly setting: string
  readonly message: string
}

/** The settings are not usable. The message lists every fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly faults: readonly SettingFault[]

  constructor(faults: readonly SettingFault[]) {
    super(
      ['The settings are not usable:', ...faults.map((one) => `  ${one.setting}: ${one.message}`)].join('\n'),
    )
    this.faults = faults
  }
}

/** Reads the settings of a schema. Throws ConfigError. An empty or blank value counts as absent. */
export function readSettings<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
): z.output<Schema> {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  )
  const result = schema.safeParse(present)
  if (result.success) return result.data
  throw new ConfigError(
    result.error.issues.map(({ code, path, message }) => {
      const missing = code === 'invalid_type' && !(String(path[0]) in present)
      return { setting: path.join('.'), message: missing ? 'is missing' : message }
    }),
  )
}
