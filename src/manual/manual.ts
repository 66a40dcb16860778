import { serviceName } from '../kernel/brand.js'
import type { Manual } from './blocks.js'
import { callsChapters, type Installation } from './chapters/calls.js'
import { errorsChapter } from './chapters/errors.js'
import { basics } from './guides/basics.js'
import { embed } from './guides/embed.js'
import { events } from './guides/events.js'
import { goingLive } from './guides/going-live.js'
import { localTesting } from './guides/local-testing.js'
import { naira } from './guides/naira.js'
import { overlay } from './guides/overlay.js'
import { quickstart } from './guides/quickstart.js'
import { tokens } from './guides/tokens.js'
import { callsOf, type OpenApi } from './read-openapi.js'

/** Builds an installation's manual from its OpenAPI document. */
export function manualOf(document: OpenApi, installation: Installation): Manual {
  const { base, standIns } = installation
  const calls = callsOf(document)
  return {
    title: `${serviceName}: manual`,
    lead: 'Supporters tip in crypto or naira; creators watch tips arrive live and withdraw to a Nigerian bank. This manual has everything a site needs to take tips: guides, every call with its fields and refusals, and what to do about each refusal.',
    base,
    guides: [
      quickstart(base, standIns),
      basics(base),
      embed(base),
      tokens(),
      naira(base),
      events(base),
      overlay(base),
      goingLive(base),
      localTesting(standIns),
    ],
    calls: callsChapters(calls, installation),
    errors: errorsChapter(calls),
  }
}
