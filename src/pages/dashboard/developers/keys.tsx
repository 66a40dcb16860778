import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Form, TextField } from '../../ui/controls/form.js'
import type { ApiKey, ApiKeys, NewApiKey } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { FormDialog, OnceDialog } from '../parts/dialogs.js'
import { FaultNotice } from '../parts/notices.js'
import { OwnRow } from '../parts/rows.js'
import { useLoad, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'

const path = '/creators/api-keys'

/** The API keys: create, show once, list, revoke. */
export function Keys(): JSX.Element {
  const { data, unread, reload } = useLoad<ApiKeys>(path)
  const [label, setLabel] = useState('')
  const [made, setMade] = useState<NewApiKey>()
  const drawer = useDrawer()
  const now = useNow()
  const revoking = data?.apiKeys.find(({ id }) => id === drawer.open)
  const make = useSubmit(async () => {
    setMade(await call<NewApiKey>('POST', path, { body: { label } }))
    setLabel('')
    reload()
  })
  const text = words.keys
  return (
    <Card name="keys" title={text.title} lead={text.lead}>
      <Form class="inline" onSubmit={make.run}>
        <TextField
          label={text.label}
          name="label"
          maxLength={100}
          placeholder={text.labelExample}
          value={label}
          onInput={setLabel}
        />
        <Button kind="primary" type="submit" busy={make.busy}>
          {text.make}
        </Button>
      </Form>
      <FaultNotice fault={make.fault ?? unread} />
      {data?.apiKeys.length === 0 && <p class="empty">{text.none}</p>}
      <ul class="rows">
        {data?.apiKeys.map((key) => (
          <OwnRow
            key={key.id}
            label={key.label ?? text.unlabelled}
            mark={<code>tk_live_{key.prefix}_…</code>}
            more={`${text.created(agoText(key.createdAt, now))} · ${
              key.lastUsedAt === null ? text.unused : text.used(agoText(key.lastUsedAt, now))
            }`}
            end={{
              text: text.revoke,
              what: text.revokeWhat(key.label ?? key.prefix),
              onPress: () => drawer.show(key.id),
            }}
          />
        ))}
      </ul>
      {made !== undefined && (
        <OnceDialog title={words.newKey.title} text={words.newKey} onStored={() => setMade(undefined)}>
          <code class="secret">{made.apiKey}</code>
          <CopyButton value={made.apiKey} label={words.newKey.key} />
        </OnceDialog>
      )}
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
    </Card>
  )
}

/** Revokes a key after the user typed its prefix, because a site that still uses the key stops working immediately. */
function RevokeDialog({
  apiKey: { id, label, prefix },
  onClose,
  onRevoked,
}: {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onRevoked: () => void
}): JSX.Element {
  const [typed, setTyped] = useState('')
  const revoke = useSubmit(async () => {
    await call('DELETE', `${path}/${id}`)
    onRevoked()
  })
  return (
    <FormDialog
      title={words.revoke.title(label ?? prefix)}
      submit={words.revoke.submit}
      busy={revoke.busy}
      onSubmit={() => (typed.trim() === prefix ? revoke.run() : revoke.fail('wrong_prefix'))}
      onClose={onClose}
    >
      <p>{words.revoke.effect}</p>
      <TextField
        label={words.revoke.type(prefix)}
        fault={revoke.fault && words.fault(revoke.fault)}
        name="prefix"
        spellcheck={false}
        value={typed}
        onInput={(text) => {
          revoke.clear()
          setTyped(text)
        }}
      />
    </FormDialog>
  )
}
