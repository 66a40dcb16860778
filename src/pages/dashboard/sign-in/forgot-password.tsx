import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { call } from '../api.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useSubmit } from '../use-submit.js'
import { EmailField } from './email-field.js'

/** Has a link for a new password mailed. The answer is the same whether or not there is such an account. */
export function ForgotPassword({ onBack }: { readonly onBack: () => void }): JSX.Element {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string>()
  const send = useSubmit(async () => {
    await call('POST', '/auth/password/reset', { body: { email } })
    setSentTo(email)
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send.run()
      }}
    >
      {sentTo !== undefined && (
        <Notice tone="plain" icon="mail" urgent>
          <strong>{words.forgot.sentTitle}</strong>
          <p>{words.forgot.sent(sentTo)}</p>
          <p>{words.forgot.notThere}</p>
        </Notice>
      )}
      <EmailField value={email} onInput={setEmail} />
      <FaultNotice fault={send.fault} />
      <Button kind={sentTo === undefined ? 'primary' : 'plain'} type="submit" busy={send.busy}>
        {words.forgot.submit}
      </Button>
      <button type="button" class="link" onClick={onBack}>
        {words.forgot.back}
      </button>
    </form>
  )
}
