import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { DataExport } from '../answers.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useSubmit } from '../use-submit.js'
import { useProtect } from './reauthentication.js'

/** Has everything that is stored about the account mailed to its owner. */
export function DataCard(): JSX.Element {
  const protect = useProtect()
  const [status, setStatus] = useState<DataExport['status']>()
  const ask = useSubmit(async () => {
    const answer = await protect(() => call<{ export: DataExport }>('GET', '/auth/export'), 'sign-in')
    setStatus(answer.export.status)
  })
  const said = status === undefined ? '' : words.data[status]
  return (
    <section class="card" aria-labelledby="data-title">
      <h2 id="data-title">{words.data.title}</h2>
      <p class="quiet">{words.data.lead}</p>
      <Announcer text={said} />
      {said !== '' && (
        <Notice tone={status === 'failed' ? 'bad' : 'plain'} icon={status === 'failed' ? 'warn' : 'mail'}>
          {said}
        </Notice>
      )}
      <FaultNotice fault={ask.fault} />
      <Button busy={ask.busy} onPress={ask.run}>
        {words.data.submit}
      </Button>
    </section>
  )
}
