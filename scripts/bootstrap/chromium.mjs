import { aptInstall, mayInstall, works } from './apt.mjs'
import { Refusal } from './progress.mjs'

/** Installs the browser of the browser tests where that needs no question, else says how. CHROMIUM names another one. */
export async function ensureChromium() {
  const program = process.env.CHROMIUM || 'chromium'
  if (works(program)) return
  if (process.env.CHROMIUM || !mayInstall())
    throw new Refusal(
      `${program} is missing; install it (Debian: sudo apt-get install chromium) or set CHROMIUM to a Chromium of yours`,
    )
  await aptInstall('chromium')
}
