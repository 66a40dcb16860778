import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Reads the file `.env` of this folder, if there is one. Variables that are already set keep their values. */
export function loadDotenv() {
  if (existsSync('.env')) process.loadEnvFile('.env')
}

/**
 * Without DATABASE_URL, reads the addresses that a running `npm run dev` has written, for commands that use its stack. Not
 * in production, where a missing DATABASE_URL is a mistake. `always`: also with DATABASE_URL, for a stack that was given one.
 */
export function loadStackSettings(always = false) {
  if ((process.env.DATABASE_URL && !always) || process.env.NODE_ENV === 'production') return
  const stack = join(process.env.DATA_DIR || '.data', 'settings.env')
  if (existsSync(stack)) process.loadEnvFile(stack)
}
