import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Reads the `.env` of this folder, if there is one. What is set already wins. */
export function loadDotenv() {
  if (existsSync('.env')) process.loadEnvFile('.env')
}

/**
 * For what talks to a running stack and was told of no database: finds the addresses where `npm run dev` wrote them down.
 * Never in production, where somebody forgot to give one.
 */
export function loadStackSettings() {
  if (process.env.DATABASE_URL || process.env.NODE_ENV === 'production') return
  const stack = join(process.env.DATA_DIR || '.data', 'settings.env')
  if (existsSync(stack)) process.loadEnvFile(stack)
}
