import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Notice } from '../../ui/notice.js'
import { Tick } from '../../ui/tick.js'
import type { Settings } from '../answers.js'
import { NumberField } from '../parts/number-field.js'
import { Select } from '../parts/select.js'
import { tokens } from '../tokens.js'

const ways = ['checkout', 'bank_transfer'] as const
const text = words.settings

interface Part {
  readonly settings: Settings
  readonly onChange: (change: Partial<Settings>) => void
}

/** Which tokens are taken and what becomes of them. */
export function TokenFields({ settings, onChange }: Part): JSX.Element {
  const { acceptedTokens } = settings
  const accept = (token: string, taken: boolean): void => {
    const others = acceptedTokens.filter((other) => other !== token)
    const next = taken ? [...others, token] : others
    // The service refuses a creator who takes nothing.
    if (next.length > 0) onChange({ acceptedTokens: next })
  }
  return (
    <>
      <fieldset class="stack">
        <legend class="field__label">{text.tokens}</legend>
        <div class="ticks">
          {tokens.map((token) => (
            <Tick
              key={token}
              label={token}
              value={acceptedTokens.includes(token)}
              onChange={(taken) => accept(token, taken)}
            />
          ))}
        </div>
      </fieldset>
      <div>
        <Tick
          label={text.convert}
          value={settings.autoConvertUsdc}
          onChange={(autoConvertUsdc) => onChange({ autoConvertUsdc })}
        />
        <Tick
          label={text.gasless}
          value={settings.gaslessEnabled}
          onChange={(gaslessEnabled) => onChange({ gaslessEnabled })}
        />
        <Tick
          label={text.yield}
          value={settings.yieldEnabled}
          onChange={(yieldEnabled) => onChange({ yieldEnabled })}
        />
      </div>
      {settings.yieldEnabled && (
        <Notice tone="warn" icon="warn">
          {text.yieldWarning}
        </Notice>
      )}
    </>
  )
}

/** How naira are paid, and between what amounts a tip may be. */
export function MoneyFields({ settings, onChange }: Part): JSX.Element {
  const limit = (key: 'minTipUsd' | 'maxTipUsd'): JSX.Element => (
    <NumberField
      label={text[key]}
      placeholder={text.noLimit}
      value={settings[key] ?? undefined}
      onChange={(value) => onChange({ [key]: value ?? null })}
    />
  )
  return (
    <>
      <Select
        label={text.fiat}
        choices={ways}
        texts={text.ways}
        chosen={settings.fiatCollection}
        onChoose={(fiatCollection) => onChange({ fiatCollection })}
      />
      <div class="pair">
        {limit('minTipUsd')}
        {limit('maxTipUsd')}
      </div>
    </>
  )
}
