import type { SessionDescription } from '../../../sdk/client/tip.js'
import { typedCents } from '../../lib/amount-text.js'
import type { Form, State } from './state.js'

/** The chosen or typed amount in cents; undefined when it is invalid or outside the creator's limits. */
export function chosenCents({ form, session }: Pick<State, 'form' | 'session'>): number | undefined {
  const cents = form.preset === 'other' ? typedCents(form.other) : form.preset
  if (cents === undefined || session === undefined) return undefined
  const { minTipUsd, maxTipUsd } = session.limits
  return cents >= minTipUsd * 100 && cents <= maxTipUsd * 100 ? cents : undefined
}

/** The chosen token, or the creator's first token when the chosen one is not offered. */
export function chosenToken({ form, session }: Pick<State, 'form' | 'session'>) {
  return session?.tokens.find(({ mint }) => mint === form.mint) ?? session?.tokens[0]
}

/** The form for a session: given values that fit it, otherwise its second preset and its first token. */
export function firstForm(session: SessionDescription, given: Form): Form {
  const { presetsUsd, tokens } = session
  const preset = presetsUsd[Math.min(1, presetsUsd.length - 1)]
  const chosen =
    given.other === '' && given.preset === 'other' && preset !== undefined ? preset * 100 : given.preset
  const mint = tokens.some((token) => token.mint === given.mint) ? given.mint : (tokens[0]?.mint ?? '')
  const method = given.method === 'naira' && !session.fiat.enabled ? 'crypto' : given.method
  return { ...given, preset: matchingPreset(chosen, given.other, presetsUsd), mint, method }
}

/** An amount that came from another window selects the preset with the same value. */
function matchingPreset(
  preset: Form['preset'],
  other: string,
  presetsUsd: readonly number[],
): Form['preset'] {
  const cents = preset === 'other' ? typedCents(other) : preset
  return cents !== undefined && presetsUsd.includes(cents / 100) ? cents : 'other'
}
