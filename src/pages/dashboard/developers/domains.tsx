import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Icon } from '../../ui/icon.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { parseTypedSite } from './site.js'

interface Sites {
  readonly domains: readonly string[]
}

const path = '/creators/domains'

/** The sites that may show the creator's checkout. */
export function Domains(): JSX.Element {
  const { data, fault } = useLoad<Sites>(path)
  const [domains, setDomains] = useState<readonly string[]>()
  const [text, setText] = useState('')
  const [announcement, setAnnouncement] = useState('')
  // A saved change is newer than a list that arrives after it.
  useEffect(() => setDomains((saved) => saved ?? data?.domains), [data])
  const save = useSubmit(async (changed: (before: readonly string[]) => readonly string[], done: string) => {
    // The list may not have arrived yet: read it before changing it.
    const before = domains ?? (await call<Sites>('GET', path)).domains
    setDomains((await call<Sites>('PUT', path, { body: { domains: changed(before) } })).domains)
    setAnnouncement(done)
    setText('')
  })
  const site = parseTypedSite(text)
  const invalid = text.trim() !== '' && site === undefined
  const failed = save.fault ?? (data === undefined ? fault : undefined)
  return (
    <section class="card" aria-labelledby="domains-title">
      <h2 id="domains-title">{words.domains.title}</h2>
      <p class="quiet">{words.domains.lead}</p>
      <Announcer text={announcement} />
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          if (site !== undefined)
            save.run((before) => [...new Set([...before, site])], words.domains.added(site))
        }}
      >
        <Field
          label={words.domains.add}
          hint={site !== undefined && site !== text.trim() ? words.domains.becomes(site) : undefined}
          fault={invalid ? words.fault('invalid_domain') : undefined}
        >
          <input
            class="input"
            name="domain"
            inputMode="url"
            autocomplete="off"
            spellcheck={false}
            placeholder="example.com"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </Field>
        <Button type="submit" busy={save.busy}>
          {words.domains.submit}
        </Button>
      </form>
      <FaultNotice fault={failed} />
      <ul class="chips">
        {domains?.map((domain) => (
          <li key={domain} class="chips__chip">
            <bdi>{domain}</bdi>
            <button
              type="button"
              class="chips__remove"
              aria-label={words.domains.remove(domain)}
              onClick={() =>
                save.run(
                  (before) => before.filter((other) => other !== domain),
                  words.domains.removed(domain),
                )
              }
            >
              <Icon name="cross" size={16} />
            </button>
          </li>
        ))}
        <li class="chips__chip chips__chip--fixed">{words.domains.always}</li>
      </ul>
    </section>
  )
}
