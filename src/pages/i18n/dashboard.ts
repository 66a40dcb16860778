import { developersWords } from './dashboard/developers.js'
import { frameWords } from './dashboard/frame.js'
import { homeWords } from './dashboard/home.js'
import { linksWords } from './dashboard/links.js'
import { overlayWords } from './dashboard/overlay.js'
import { securityWords } from './dashboard/security.js'
import { settingsWords } from './dashboard/settings.js'
import { signInWords } from './dashboard/sign-in.js'
import { takeOutWords } from './dashboard/take-out.js'
import { tipsWords } from './dashboard/tips.js'
import { withdrawWords } from './dashboard/withdraw.js'

/** Every text of the dashboard. A group of texts has one name in all screens. */
export const words = {
  ...frameWords,
  ...signInWords,
  ...linksWords,
  ...homeWords,
  ...tipsWords,
  ...withdrawWords,
  ...takeOutWords,
  ...overlayWords,
  ...developersWords,
  ...securityWords,
  ...settingsWords,
} as const
