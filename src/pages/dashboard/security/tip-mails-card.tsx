import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Announcer } from '../../ui/messages/announcer.js'
import type { Security, TipMails } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { RadioGroup } from '../parts/fields/radio-group.js'
import { useSession } from '../session.js'
import { useSubmit } from '../use-submit.js'

const ways = ['off', 'each', 'daily'] as const satisfies readonly TipMails[]

/** How often e-mails about tips come. Stored as soon as it is chosen. */
export function TipMailsCard({ security }: { readonly security: Security }): JSX.Element {
  const { refresh } = useSession()
  const [chosen, setChosen] = useState(security.tipMails)
  const [saved, setSaved] = useState(false)
  const save = useSubmit(async (tipMails: TipMails) => {
    setChosen(tipMails)
    setSaved(false)
    await call('PUT', '/auth/tip-mails', { body: { tipMails } }).catch((error: unknown) => {
      setChosen(security.tipMails)
      throw error
    })
    setSaved(true)
    refresh()
  })
  return (
    <section class="card" aria-labelledby="tip-mails-title">
      <h2 id="tip-mails-title">{words.tipMails.title}</h2>
      <p class="quiet">{words.tipMails.lead}</p>
      <RadioGroup
        name="tip-mails"
        legend={words.tipMails.title}
        choices={ways}
        texts={words.tipMails.ways}
        chosen={chosen}
        stacked
        onChoose={save.run}
      />
      <Announcer text={saved ? words.tipMails.saved : ''} />
      <FaultNotice fault={save.fault} />
    </section>
  )
}
