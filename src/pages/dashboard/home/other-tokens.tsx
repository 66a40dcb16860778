import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { usd } from '../../lib/money.js'
import { amountText } from '../../lib/tip-text.js'
import type { TokenBalance } from '../answers.js'
import { ScreenLink } from '../parts/screen-link.js'

/** The tokens besides USDC in the creator's wallet, and what can be done with them. */
export function OtherTokens({ tokens }: { readonly tokens: readonly TokenBalance[] }): JSX.Element | null {
  if (tokens.length === 0) return null
  return (
    <div class="balance__tokens">
      <h3>{words.otherTokens.title}</h3>
      <ul class="balance__token-list">
        {tokens.map(({ symbol, mint, amount, valueUsd }) => (
          <li key={mint} class="number">
            <strong>{amountText(amount, symbol)}</strong>{' '}
            <span class="quiet">{words.otherTokens.worth(usd(valueUsd))}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {words.otherTokens.effect} <ScreenLink to="take-out">{words.otherTokens.takeOut}</ScreenLink>
      </p>
      <p class="quiet">
        {words.otherTokens.convert} <ScreenLink to="settings">{words.otherTokens.settings}</ScreenLink>
      </p>
    </div>
  )
}
