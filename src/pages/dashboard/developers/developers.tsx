import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form, TextField } from '../../ui/fields.js'
import { Announcer, CopyButton, Icon, Tabs } from '../../ui/kit.js'
import type { ApiKey, ApiKeys, NewApiKey } from '../answers.js'
import { call } from '../api.js'
import { agoText, useNow } from '../dates.js'
import { Card } from '../parts/cards.js'
import { type Ending, FormDialog, OnceDialog, Submit } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { OwnRow } from '../parts/rows.js'
import { useForm, useLoad, useSubmit } from '../requests.js'
import { useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { Events } from './events.js'
import { parseTypedSite } from './site.js'
import { Webhooks } from './webhooks.js'

export function Developers() {
  return (
    <div class="columns">
      <Keys />
      <Domains />
      <Webhooks />
      <Events />
      <Snippets />
    </div>
  )
}

interface Sites {
  readonly domains: readonly string[]
}

const sitesPath = '/creators/domains'

function Domains() {
  const { data, unread } = useLoad<Sites>(sitesPath)
  const [domains, setDomains] = useState<readonly string[]>()
  const [text, setText] = useState('')
  const [announcement, setAnnouncement] = useState('')
  // A saved change is newer than a list that arrives after it.
  useEffect(() => setDomains((saved) => saved ?? data?.domains), [data])
  const save = useSubmit(async (changed: (before: readonly string[]) => readonly string[], done: string) => {
    // The list may not have arrived yet: read it before changing it.
    const before = domains ?? (await call<Sites>('GET', sitesPath)).domains
    setDomains((await call<Sites>('PUT', sitesPath, { body: { domains: changed(before) } })).domains)
    setAnnouncement(done)
    setText('')
  })
  const add = (site: string): void =>
    save.run((before) => [...new Set([...before, site])], words.domains.added(site))
  const remove = (site: string): void =>
    save.run((before) => before.filter((other) => other !== site), words.domains.removed(site))
  const site = parseTypedSite(text)
  const invalid = text.trim() !== '' && site === undefined
  return (
    <Card name="domains" title={words.domains.title} lead={words.domains.lead}>
      <Announcer text={announcement} />
      <Form class="inline" onSubmit={() => site !== undefined && add(site)}>
        <TextField
          label={words.domains.add}
          hint={site !== undefined && site !== text.trim() ? words.domains.becomes(site) : undefined}
          fault={invalid ? words.fault('invalid_domain') : undefined}
          name="domain"
          inputMode="url"
          spellcheck={false}
          placeholder="example.com"
          value={text}
          onInput={setText}
        />
        <Submit text={words.domains.submit} kind="plain" busy={save.busy} />
      </Form>
      <FaultNotice fault={save.fault ?? unread} />
      <ul class="wrap">
        {domains?.map((domain) => (
          <li key={domain} class="chips__chip">
            <bdi>{domain}</bdi>
            <button
              type="button"
              class="chips__remove"
              aria-label={words.domains.remove(domain)}
              onClick={() => remove(domain)}
            >
              <Icon name="cross" size={16} />
            </button>
          </li>
        ))}
        <li class="chips__chip chips__chip--fixed">{words.domains.always}</li>
      </ul>
    </Card>
  )
}

const sides = ['backend', 'frontend', 'events'] as const
type Side = (typeof sides)[number]

function Snippets() {
  const { me } = useSession()
  const [side, setSide] = useState<Side>('backend')
  const code = codeFor(side, me.id)
  return (
    <Card name="code" title={words.code_.title} lead={words.code_.lead} class="columns__wide">
      <Tabs
        label={words.code_.title}
        chosen={side}
        onChoose={setSide}
        tabs={sides.map((key) => ({ key, label: words.code_.tabs[key] }))}
      />
      <div role="tabpanel" id={`panel-${side}`} aria-labelledby={`tab-${side}`} class="stack">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre class="secret" tabIndex={0}>
          <code>{code}</code>
        </pre>
        <CopyButton value={code} label={words.code_.code} />
      </div>
      <p>
        <a href="/docs">{words.code_.manual}</a> · <a href="/openapi.json">{words.code_.document}</a>
      </p>
    </Card>
  )
}

function codeFor(side: Side, creatorId: string): string {
  const { origin } = location
  if (side === 'backend')
    return `// On your server. The key never goes to a browser.
const answer = await fetch('${origin}/sdk/init', {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.TIPS_API_KEY}\`,
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    creatorId: '${creatorId}',
    originUrl: 'https://example.com', // the page that shows the checkout
  }),
})
const { config } = await answer.json()
// Give config.embedUrl to your page.`
  if (side === 'frontend')
    return `<!-- In your page; embedUrl is what your server got. -->
<iframe title="Tip" src="EMBED_URL" allow="clipboard-write"
  style="width:100%;max-width:480px;height:640px;border:0"></iframe>`
  return `// On your server, every 30 to 60 seconds: what was confirmed since the last look.
const answer = await fetch(
  '${origin}/sdk/events?creatorId=${creatorId}&since=' + encodeURIComponent(lastSeen),
  { headers: { authorization: \`Bearer \${process.env.TIPS_API_KEY}\` } },
)
const { events } = await answer.json() // newest first`
}

const keysPath = '/creators/api-keys'
/** The deployment that made the page, and the address of the other one, if it is known. */
const { mode = 'live', otherUrl } = document.documentElement.dataset

function Keys() {
  const { data, unread, reload } = useLoad<ApiKeys>(keysPath)
  const [made, setMade] = useState<NewApiKey>()
  const drawer = useDrawer()
  const now = useNow()
  const revoking = data?.apiKeys.find(({ id }) => id === drawer.open)
  const make = useForm({ label: '' }, async (body) => {
    setMade(await call<NewApiKey>('POST', keysPath, { body }))
    make.set({ label: '' })
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
          {...make.field('label')}
        />
        <Submit text={text.make} busy={make.busy} />
      </Form>
      <FaultNotice fault={make.fault ?? unread} />
      {otherUrl !== undefined && (
        <p class="quiet">
          <a href={`${otherUrl}/dashboard/developers`}>{mode === 'test' ? text.live : text.test}</a>
        </p>
      )}
      {data?.apiKeys.length === 0 && <p class="empty">{text.none}</p>}
      <ul class="rows">
        {data?.apiKeys.map((key) => (
          <OwnRow
            key={key.id}
            label={key.label ?? text.unlabelled}
            mark={<code>{`tk_${mode}_${key.prefix}_…`}</code>}
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
      {revoking !== undefined && <RevokeDialog apiKey={revoking} onClose={drawer.close} onDone={reload} />}
    </Card>
  )
}

/** Revokes a key after the user typed its prefix, because a site that still uses the key stops working immediately. */
function RevokeDialog({ apiKey: { id, label, prefix }, onClose, onDone }: Ending & { apiKey: ApiKey }) {
  const revoke = useForm({ typed: '' }, async () => {
    await call('DELETE', `${keysPath}/${id}`)
    onClose()
    onDone()
  })
  return (
    <FormDialog
      title={words.revoke.title(label ?? prefix)}
      submit={words.revoke.submit}
      of={revoke}
      onSubmit={() => (revoke.values.typed.trim() === prefix ? revoke.run() : revoke.fail('wrong_prefix'))}
      onClose={onClose}
    >
      <p>{words.revoke.effect}</p>
      <TextField
        label={words.revoke.type(prefix)}
        name="prefix"
        spellcheck={false}
        {...revoke.field('typed', 'all')}
      />
    </FormDialog>
  )
}
