import type { SessionDescription } from '../../../sdk/client/tip.js'
import { typedCents } from '../../lib/amount-text.js'
import type { Form, State } from './state.js'

/** The amount chosen or typed, in cents; undefined when it is none or out of the creator's limits. */
export function chosenCents({ form, session }: Pick<State, 'form' | 'session'>): number | undefined {
  const cents = form.preset === 'other' ? typedCents(form.other) : form.preset
  if (cents === undefined || session === undefined) return undefined
  const { minTipUsd, maxTipUsd } = session.limits
  return cents >= minTipUsd * 100 && cents <= maxTipUsd * 100 ? cents : undefined
}

/** The token chosen; the first one the creator takes stands in for one that is not offered. */
export function chosenToken({ form, session }: Pick<State, 'form' | 'session'>) {
  return session?.tokens.find(({ mint }) => mint === form.mint) ?? session?.tokens[0]
}

/** The middle preset: what most people end up with, and never the dearest. */
export function firstForm(session: SessionDescription, given: Form): Form {
  const { presetsUsd, tokens } = session
  const preset = presetsUsd[Math.min(1, presetsUsd.length - 1)]
  const chosen =
    given.other === '' && given.preset === 'other' && preset !== undefined ? preset * 100 : given.preset
  const mint = tokens.some((token) => token.mint === given.mint) ? given.mint : (tokens[0]?.mint ?? '')
  const method = given.method === 'naira' && !session.fiat.enabled ? 'crypto' : given.method
  return { ...given, preset: matching(chosen, given.other, presetsUsd), mint, method }
}

/** An amount that came along from another window is shown as the preset it equals. */
function matching(preset: Form['preset'], other: string, presetsUsd: readonly number[]): Form['preset'] {
  const cents = preset === 'other' ? typedCents(other) : preset
  return cents !== undefined && presetsUsd.includes(cents / 100) ? cents : 'other'
}
