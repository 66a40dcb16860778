import { ConfigError, type SettingFault } from './read-settings.js'

/** Reads some of the settings. Throws ConfigError when they are not usable. */
export type SettingsReader = (env: NodeJS.ProcessEnv) => unknown

/** Runs every reader. Throws one ConfigError with the faults of all of them, one per setting. */
export function checkSettings(readers: readonly SettingsReader[], env: NodeJS.ProcessEnv): void {
  const faults = new Map<string, SettingFault>()
  for (const reader of readers)
    for (const fault of faultsOf(reader, env))
      if (!faults.has(fault.setting)) faults.set(fault.setting, fault)
  if (faults.size > 0) throw new ConfigError([...faults.values()])
}

function faultsOf(reader: SettingsReader, env: NodeJS.ProcessEnv): readonly SettingFault[] {
  try {
    reader(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

/**
 * Loads the settings. When they are not usable, prints what to change, without a stack trace, and ends the process
 * with exit code 1.
 */
export function loadOrExit<Settings>(load: () => Settings): Settings {
  try {
    return load()
  } catch (error) {
    exitForBadSettings(error)
  }
}

/** Ends the process with the message of a ConfigError. Throws every other error. */
export function exitForBadSettings(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
