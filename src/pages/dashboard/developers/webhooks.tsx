import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button, CopyButton } from '../../ui/kit.js'
import type { WebhookSecret, Webhooks as WebhooksAnswer } from '../answers.js'
import { call } from '../api.js'
import { useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { OnceDialog, Question } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { useLoad, usePolling } from '../requests.js'
import { useDrawer } from '../route.js'
import { type Asked, EndpointRow, hooksPath } from './endpoint.js'
import { EndpointDrawer } from './endpoint-drawer.js'
import { EnableDialog, EndpointForm } from './endpoint-forms.js'

const everyMs = 5000

interface Shown extends WebhookSecret {
  readonly rotated: boolean
}

export function Webhooks() {
  const { data, unread, reload } = useLoad<WebhooksAnswer>(hooksPath)
  const [shown, setShown] = useState<Shown>()
  const [deleted, setDeleted] = useState<string>()
  const drawer = useDrawer()
  const now = useNow()
  const hooks = data?.webhooks.filter(({ id }) => id !== deleted)
  usePolling(reload, everyMs, hooks !== undefined && hooks.length > 0)
  const [asked, openId] = (drawer.open ?? '').split(' ')
  const hook = hooks?.find(({ id }) => id === openId)
  /** The name of the drawer says what is asked about which endpoint. */
  const ask = (what: Asked, id = ''): void => drawer.show(`${what} ${id}`)
  const ending = { onClose: drawer.close, onDone: reload }
  const text = words.hooks
  return (
    <Card name="webhooks" title={text.title} lead={text.lead} class="columns__wide">
      <FaultNotice fault={unread} tone="warn" onRetry={reload} />
      {hooks?.length === 0 && <p class="empty">{text.none}</p>}
      <ul class="rows">
        {hooks?.map((one) => (
          <EndpointRow key={one.id} hook={one} now={now} onOpen={() => ask('show', one.id)} />
        ))}
      </ul>
      <Button text={text.add} onPress={() => ask('add')} />
      {asked === 'add' && (
        <EndpointForm {...ending} onMade={(made) => setShown({ ...made, rotated: false })} />
      )}
      {hook !== undefined && asked === 'show' && shown === undefined && (
        <EndpointDrawer
          hook={hook}
          onAsk={(what) => ask(what, hook.id)}
          onChanged={reload}
          onClose={drawer.close}
        />
      )}
      {hook !== undefined && asked === 'change' && <EndpointForm hook={hook} {...ending} />}
      {hook !== undefined && asked === 'enable' && <EnableDialog hook={hook} {...ending} />}
      {hook !== undefined && asked === 'rotate' && (
        <Question
          title={text.rotateTitle}
          effect={text.rotateEffect}
          submit={text.rotate}
          kind="primary"
          act={async () => {
            const made = await call<WebhookSecret>('POST', `${hooksPath}/${hook.id}/rotate`, { body: {} })
            setShown({ ...made, rotated: true })
          }}
          {...ending}
        />
      )}
      {hook !== undefined && asked === 'delete' && (
        <Question
          title={text.deleteTitle}
          effect={text.deleteEffect(hook.url)}
          submit={text.delete}
          act={async () => {
            await call('DELETE', `${hooksPath}/${hook.id}`)
            setDeleted(hook.id)
          }}
          {...ending}
        />
      )}
      {shown !== undefined && <SecretDialog of={shown} onStored={() => setShown(undefined)} />}
    </Card>
  )
}

function SecretDialog({ of, onStored }: { readonly of: Shown; readonly onStored: () => void }) {
  const text = words.newSecret
  const { secret, webhook, rotated } = of
  return (
    <OnceDialog
      title={text.title}
      text={{ ...text, once: rotated ? text.rotated : text.once }}
      onStored={onStored}
    >
      {[
        [text.secret, secret],
        [text.publicKey, webhook.publicKey],
      ].map(([label = '', value = '']) => (
        <div key={label} class="stack">
          <strong>{label}</strong>
          <code class="secret">{value}</code>
          <CopyButton value={value} label={label.toLowerCase()} />
        </div>
      ))}
      <p class="quiet">{text.use}</p>
    </OnceDialog>
  )
}
