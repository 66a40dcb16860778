import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Checkbox, RadioGroup } from '../../ui/fields.js'
import { Announcer } from '../../ui/kit.js'
import type { Security } from '../answers.js'
import { call } from '../api.js'
import { Card } from '../parts/cards.js'
import { FaultNotice } from '../parts/notices.js'
import { useSubmit } from '../requests.js'
import { useSession } from '../session.js'
import { playTone, readTellings, showNotice, storeTellings, type Tellings } from '../tips/news.js'

type TipMails = Security['tipMails']
const ways = ['off', 'each', 'daily'] as const satisfies readonly TipMails[]

/** How often e-mails about tips come. Stored as soon as it is chosen. */
export function TipMailsCard({ security }: { readonly security: Security }) {
  const { refresh } = useSession()
  const [chosen, setChosen] = useState(security.tipMails)
  const save = useSubmit(async (tipMails: TipMails) => {
    setChosen(tipMails)
    await call('PUT', '/auth/tip-mails', { body: { tipMails } }).catch((error: unknown) => {
      setChosen(security.tipMails)
      throw error
    })
    refresh()
  })
  return (
    <Card name="tip-mails" title={words.tipMails.title} lead={words.tipMails.lead}>
      <RadioGroup
        name="tip-mails"
        legend={words.tipMails.title}
        choices={ways}
        texts={words.tipMails.ways}
        chosen={chosen}
        stacked
        onChoose={save.run}
      />
      <Announcer text={save.done ? words.tipMails.saved : ''} />
      <FaultNotice fault={save.fault} />
    </Card>
  )
}

const text = words.telling

/** How this browser tells of tips while the dashboard is open. Stored in the browser. */
export function TellingCard() {
  const [tellings, setTellings] = useState(readTellings)
  const [fault, setFault] = useState<string>()
  const change = (part: Partial<Tellings>): void => {
    const next = { ...tellings, ...part }
    setTellings(next)
    storeTellings(next)
  }
  const askForNotices = async (): Promise<void> => {
    setFault(undefined)
    const allowed = 'Notification' in window && (await Notification.requestPermission()) === 'granted'
    // The first one shows what they look like, and whether this browser can.
    if (allowed && showNotice(text.example, text.exampleMore)) change({ notices: true })
    else setFault(allowed ? 'notices_unsupported' : 'notices_refused')
  }
  return (
    <Card name="telling" title={text.title} lead={text.lead}>
      <div>
        <Checkbox
          label={text.notices}
          value={tellings.notices}
          onChange={(on) => (on ? void askForNotices() : change({ notices: false }))}
        />
        <Checkbox
          label={text.sound}
          value={tellings.sound}
          onChange={(sound) => {
            change({ sound })
            if (sound) playTone()
          }}
        />
      </div>
      <FaultNotice fault={fault} />
    </Card>
  )
}
