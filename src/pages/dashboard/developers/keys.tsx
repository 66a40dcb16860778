import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import type { ApiKey, NewApiKey } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { useDrawer } from '../parts/drawer.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { NewKeyDialog } from './new-key-dialog.js'
import { RevokeDialog } from './revoke-dialog.js'

/** The API keys: create, show once, list, revoke. */
export function Keys(): JSX.Element {
  const { data, fault, reload } = useLoad<{ apiKeys: readonly ApiKey[] }>('/creators/api-keys')
  const [label, setLabel] = useState('')
  const [made, setMade] = useState<NewApiKey>()
  const drawer = useDrawer()
  const revoking = data?.apiKeys.find(({ id }) => id === drawer.open)
  const make = useSubmit(async () => {
    setMade(await call<NewApiKey>('POST', '/creators/api-keys', { body: { label } }))
    setLabel('')
    reload()
  })
  const failed = make.fault ?? (data === undefined ? fault : undefined)
  return (
    <section class="card" aria-labelledby="keys-title">
      <h2 id="keys-title">{words.keys.title}</h2>
      <p class="quiet">{words.keys.lead}</p>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          make.run()
        }}
      >
        <Field label={words.keys.label}>
          <input
            class="input"
            name="label"
            autocomplete="off"
            maxLength={100}
            placeholder={words.keys.labelExample}
            value={label}
            onInput={({ currentTarget }) => setLabel(currentTarget.value)}
          />
        </Field>
        <Button kind="primary" type="submit" busy={make.busy}>
          {words.keys.make}
        </Button>
      </form>
      <FaultNotice fault={failed} />
      {data?.apiKeys.length === 0 && <p class="empty">{words.keys.none}</p>}
      <KeyList keys={data?.apiKeys ?? []} onRevoke={({ id }) => drawer.show(id)} />
      {made !== undefined && <NewKeyDialog made={made} onStored={() => setMade(undefined)} />}
      {revoking !== undefined && (
        <RevokeDialog
          apiKey={revoking}
          onClose={drawer.close}
          onRevoked={() => {
            drawer.close()
            reload()
          }}
        />
      )}
    </section>
  )
}

function KeyList({
  keys,
  onRevoke,
}: {
  readonly keys: readonly ApiKey[]
  readonly onRevoke: (key: ApiKey) => void
}): JSX.Element {
  const now = useNow()
  return (
    <ul class="rows">
      {keys.map((key) => (
        <li key={key.id} class="rows__row key">
          <span class="key__what">
            <bdi class="key__label">{key.label ?? words.keys.unlabelled}</bdi>
            <code>tk_live_{key.prefix}_…</code>
            <span class="quiet">
              {words.keys.created(agoText(key.createdAt, now))} ·{' '}
              {key.lastUsedAt === null ? words.keys.unused : words.keys.used(agoText(key.lastUsedAt, now))}
            </span>
          </span>
          <button
            type="button"
            class="copy copy--bad"
            aria-label={words.keys.revokeWhat(key.label ?? key.prefix)}
            onClick={() => onRevoke(key)}
          >
            {words.keys.revoke}
          </button>
        </li>
      ))}
    </ul>
  )
}
