import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Checkbox, Form, RadioGroup, Select, TextField } from '../../ui/fields.js'
import { Announcer, Button, Notice } from '../../ui/kit.js'
import { type Creator, type Profile, type Settings, tokens } from '../answers.js'
import { call, codeOf } from '../api.js'
import { Card } from '../parts/cards.js'
import { NameField, NumberField, SignatureField } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { FaultNotice, Unread } from '../parts/notices.js'
import { useForm, useLoad, useSubmit } from '../requests.js'
import { useLeaveQuestion } from '../route.js'
import { useSession } from '../session.js'
import { chooseTheme, chosenTheme, type Theme } from '../theme.js'
import { PayoutWalletCard } from './payout-wallet.js'
import { TellingCard, TipMailsCard } from './telling.js'

interface Part {
  readonly profile: Creator
  readonly onSaved: (profile: Creator) => void
}

export function SettingsScreen() {
  const { security } = useSession()
  const load = useLoad<Profile>('/creators/me')
  const [profile, setProfile] = useState<Creator>()
  useEffect(() => setProfile(load.data?.creator), [load.data])
  if (profile === undefined) return <Unread of={load} />
  return (
    <div class="columns">
      <TipSettings profile={profile} onSaved={setProfile} />
      {security !== undefined && <TipMailsCard security={security} />}
      <TellingCard />
      <DomainCard profile={profile} onSaved={setProfile} />
      <PayoutWalletCard onSaved={setProfile} />
      <Appearance />
    </div>
  )
}

/** The settings of this form. Where tips go is chosen beside it, and takes a mailed code. */
function formSettings({ tipsTo: _, ...settings }: Creator['settings']): Settings {
  return settings
}

const text = words.settings
const ways = ['checkout', 'bank_transfer'] as const

function TipSettings({ profile, onSaved }: Part) {
  const { refresh } = useSession()
  const stored = formSettings(profile.settings)
  const save = useForm({ name: profile.name, settings: stored }, async (body) => {
    const { creator } = await call<Profile>('PATCH', '/creators/me', { body })
    onSaved(creator)
    // The service may have cleaned the name: what it stored counts as saved.
    save.set({ name: creator.name, settings: formSettings(creator.settings) })
    refresh()
  })
  const { done: saved } = save
  const { name, settings } = save.values
  const unsaved = name !== profile.name || JSON.stringify(settings) !== JSON.stringify(stored)
  useLeaveQuestion(unsaved, text.leave)
  const change = (part: Partial<Settings>): void => save.set({ settings: { ...settings, ...part } })
  const check = (
    key: 'autoConvertUsdc' | 'gaslessEnabled' | 'yieldEnabled' | 'hideUnpaidWords',
    label: string,
  ) => <Checkbox label={label} value={settings[key]} onChange={(value) => change({ [key]: value })} />
  const limit = (key: 'minTipUsd' | 'maxTipUsd') => (
    <NumberField
      label={text[key]}
      placeholder={text.noLimit}
      value={settings[key] ?? undefined}
      onChange={(value) => change({ [key]: value ?? null })}
    />
  )
  return (
    <Form class="card columns__wide" aria-labelledby="tips-title" onSubmit={save.run}>
      <h2 id="tips-title">{text.title}</h2>
      <NameField {...save.field('name')} />
      <TokenFields
        accepted={settings.acceptedTokens}
        onChange={(acceptedTokens) => change({ acceptedTokens })}
      />
      <div>
        {check('autoConvertUsdc', text.convert)}
        {check('gaslessEnabled', text.gasless)}
        {check('yieldEnabled', text.yield)}
      </div>
      {settings.yieldEnabled && <Notice tone="warn" text={text.yieldWarning} />}
      <Select
        label={text.fiat}
        choices={ways}
        texts={text.ways}
        chosen={settings.fiatCollection}
        onChoose={(fiatCollection) => change({ fiatCollection })}
      />
      <div class="pair">
        {limit('minTipUsd')}
        {limit('maxTipUsd')}
      </div>
      {check('hideUnpaidWords', text.hideUnpaid)}
      <Announcer text={saved ? text.saved : ''} />
      <Submit text={saved ? text.saved : text.save} of={save} />
    </Form>
  )
}

type TokenFieldsProps = { accepted: readonly string[]; onChange: (accepted: string[]) => void }

function TokenFields({ accepted, onChange }: TokenFieldsProps) {
  return (
    <fieldset class="stack">
      <legend class="field__label">{text.tokens}</legend>
      <div class="wrap">
        {tokens.map((token) => (
          <Checkbox
            key={token}
            label={token}
            value={accepted.includes(token)}
            onChange={(taken) => {
              const others = accepted.filter((other) => other !== token)
              const next = taken ? [...others, token] : others
              // The service refuses an empty list.
              if (next.length > 0) onChange(next)
            }}
          />
        ))}
      </div>
      <p class="field__hint">{text.tokensHint}</p>
    </fieldset>
  )
}

const nothingTyped = { domain: '', signature: '' }

/** Links a `.sol` domain: directly when it resolves to the creator's wallet, otherwise with a signature of its owner. */
function DomainCard({ profile, onSaved }: Part) {
  const [message, setMessage] = useState<string>()
  const patch = async (body: object): Promise<void> => {
    onSaved((await call<Profile>('PATCH', '/creators/me', { body })).creator)
    setMessage(undefined)
    link.set(nothingTyped)
  }
  const link = useForm(nothingTyped, async ({ domain, signature }) => {
    try {
      await patch({ solDomain: domain, ...(signature !== '' && { signature: signature.trim() }) })
    } catch (error) {
      if (codeOf(error) !== 'domain_not_yours' || signature !== '') throw error
      const body = { solDomain: domain }
      setMessage((await call<{ message: string }>('POST', '/creators/domain-challenge', { body })).message)
    }
  })
  const unlink = useSubmit(() => patch({ solDomain: null }))
  const fault = link.fault ?? unlink.fault
  return (
    <Card name="sol" title={words.sol.title}>
      {profile.solDomain === null ? (
        <Form onSubmit={link.run}>
          <TextField
            label={words.sol.domain}
            hint={words.sol.hint}
            fault={fault && words.fault(fault)}
            required
            placeholder="ada.sol"
            spellcheck={false}
            value={link.values.domain}
            onInput={(domain) => {
              link.set({ domain })
              setMessage(undefined)
            }}
          />
          {message !== undefined && (
            <SignatureField advice={words.sol.sign} message={message} {...link.field('signature')} />
          )}
          <Submit text={words.sol.link} kind="plain" busy={link.busy} />
        </Form>
      ) : (
        <>
          <p>
            <bdi>{profile.solDomain}</bdi>
          </p>
          <FaultNotice fault={fault} />
          <Button does={unlink} text={words.sol.unlink} />
        </>
      )}
    </Card>
  )
}

const themes = ['system', 'light', 'dark'] as const satisfies readonly Theme[]

function Appearance() {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <Card name="look" title={words.look.title}>
      <RadioGroup
        name="theme"
        legend={words.look.title}
        choices={themes}
        texts={words.look.themes}
        chosen={theme}
        onChoose={(one) => {
          setTheme(one)
          chooseTheme(one)
        }}
      />
    </Card>
  )
}
