import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer } from '../../ui/announcer.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/field.js'
import { Icon } from '../../ui/icon.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { siteOf } from './site.js'

interface Sites {
  readonly domains: readonly string[]
}

const path = '/creators/domains'

/** The sites that may show the creator's checkout. */
export function Domains(): JSX.Element {
  const { data, fault } = useLoad<Sites>(path)
  const [domains, setDomains] = useState<readonly string[]>()
  const [text, setText] = useState('')
  const [said, setSaid] = useState('')
  // An answer that comes after a change was saved is older than it.
  useEffect(() => setDomains((saved) => saved ?? data?.domains), [data])
  const save = useSubmit(async (changed: (before: readonly string[]) => readonly string[], done: string) => {
    // Somebody quicker than the list is not made to press again.
    const before = domains ?? (await call<Sites>('GET', path)).domains
    setDomains((await call<Sites>('PUT', path, { body: { domains: changed(before) } })).domains)
    setSaid(done)
    setText('')
  })
  const site = siteOf(text)
  const invalid = text.trim() !== '' && site === undefined
  const failed = save.fault ?? (data === undefined ? fault : undefined)
  return (
    <section class="card" aria-labelledby="domains-title">
      <h2 id="domains-title">{words.domains.title}</h2>
      <p class="quiet">{words.domains.lead}</p>
      <Announcer text={said} />
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
