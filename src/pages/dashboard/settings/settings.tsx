import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import type { Profile, Settings } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { NameField } from '../parts/fields/name-field.js'
import { useLeaveQuestion } from '../route.js'
import { useSession } from '../session.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { Appearance } from './appearance.js'
import { DomainCard } from './domain-card.js'
import { MoneyFields, TokenFields } from './fields.js'
import { PayoutWalletCard } from './payout-wallet-card.js'

/** Name, tip settings, .sol domain and appearance. */
export function SettingsScreen(): JSX.Element {
  const { data, fault, reload } = useLoad<{ creator: Profile }>('/creators/me')
  const [profile, setProfile] = useState<Profile>()
  useEffect(() => setProfile(data?.creator), [data])
  if (profile === undefined)
    return fault === undefined ? (
      <p class="quiet">{words.loading}</p>
    ) : (
      <FaultNotice fault={fault} tone="warn" onRetry={reload} />
    )
  return (
    <div class="columns">
      <TipSettings profile={profile} onSaved={setProfile} />
      <DomainCard profile={profile} onSaved={setProfile} />
      <PayoutWalletCard onSaved={setProfile} />
      <Appearance />
    </div>
  )
}

/** The settings of this form. Where tips go is chosen beside it, and takes a mailed code. */
function formSettings({ tipsTo: _, ...settings }: Settings & { readonly tipsTo?: string }): Settings {
  return settings
}

function TipSettings({
  profile,
  onSaved,
}: {
  readonly profile: Profile
  readonly onSaved: (profile: Profile) => void
}): JSX.Element {
  const { refresh } = useSession()
  const [name, setName] = useState(profile.name)
  const stored = formSettings(profile.settings)
  const [settings, setSettings] = useState(stored)
  const [saved, setSaved] = useState(false)
  const unsaved = name !== profile.name || JSON.stringify(settings) !== JSON.stringify(stored)
  useLeaveQuestion(unsaved, words.settings.leave)
  const change = (part: Partial<Settings>): void => {
    setSettings({ ...settings, ...part })
    setSaved(false)
  }
  const save = useSubmit(async () => {
    const { creator } = await call<{ creator: Profile }>('PATCH', '/creators/me', {
      body: { name, settings },
    })
    onSaved(creator)
    // The service may have cleaned the name: what it stored counts as saved.
    setName(creator.name)
    setSettings(formSettings(creator.settings))
    setSaved(true)
    refresh()
  })
  return (
    <form
      class="card stack columns__wide"
      aria-labelledby="tips-title"
      onSubmit={(event) => {
        event.preventDefault()
        save.run()
      }}
    >
      <h2 id="tips-title">{words.settings.title}</h2>
      <NameField
        value={name}
        onInput={(text) => {
          setName(text)
          setSaved(false)
        }}
      />
      <TokenFields settings={settings} onChange={change} />
      <MoneyFields settings={settings} onChange={change} />
      <FaultNotice fault={save.fault} />
      <Announcer text={saved ? words.settings.saved : ''} />
      <Button kind="primary" type="submit" busy={save.busy}>
        {saved ? words.settings.saved : words.settings.save}
      </Button>
    </form>
  )
}
