import { ConfigError, type SettingFault } from './config.js'

/** Reads some of the settings, and throws ConfigError where they are not usable. */
export type SettingsReader = (env: NodeJS.ProcessEnv) => unknown

/** Runs every reader. Throws one ConfigError with the faults of all of them, each setting once. */
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
 * What `load` reads, or the end of this process: who starts it is told what to change, with exit code 1 and without a
 * stack, which says nothing about settings.
 */
export function settingsOrEnd<Settings>(load: () => Settings): Settings {
  try {
    return load()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
