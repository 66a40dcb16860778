import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Checkbox } from '../../ui/controls/checkbox.js'
import { Notice } from '../../ui/messages/notice.js'
import { type Settings, tokens } from '../answers.js'
import { NumberField } from '../parts/fields/number-field.js'
import { Select } from '../parts/fields/select.js'

const ways = ['checkout', 'bank_transfer'] as const
const text = words.settings

interface Part {
  readonly settings: Settings
  readonly onChange: (change: Partial<Settings>) => void
}

/** The accepted tokens and how tips are converted. */
export function TokenFields({ settings, onChange }: Part): JSX.Element {
  const { acceptedTokens } = settings
  const accept = (token: string, taken: boolean): void => {
    const others = acceptedTokens.filter((other) => other !== token)
    const next = taken ? [...others, token] : others
    // The service refuses an empty list.
    if (next.length > 0) onChange({ acceptedTokens: next })
  }
  return (
    <>
      <fieldset class="stack">
        <legend class="field__label">{text.tokens}</legend>
        <div class="checkboxes">
          {tokens.map((token) => (
            <Checkbox
              key={token}
              label={token}
              value={acceptedTokens.includes(token)}
              onChange={(taken) => accept(token, taken)}
            />
          ))}
        </div>
        <p class="field__hint">{text.tokensHint}</p>
      </fieldset>
      <div>
        <Checkbox
          label={text.convert}
          value={settings.autoConvertUsdc}
          onChange={(autoConvertUsdc) => onChange({ autoConvertUsdc })}
        />
        <Checkbox
          label={text.gasless}
          value={settings.gaslessEnabled}
          onChange={(gaslessEnabled) => onChange({ gaslessEnabled })}
        />
        <Checkbox
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

/** The way naira are collected, and the limits of a tip. */
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
      <Checkbox
        label={text.hideUnpaid}
        value={settings.hideUnpaidWords}
        onChange={(hideUnpaidWords) => onChange({ hideUnpaidWords })}
      />
    </>
  )
}
