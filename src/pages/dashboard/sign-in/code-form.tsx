import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { call } from '../api.js'
import { CodeField } from '../parts/fields/code-field.js'
import { useSubmit } from '../use-submit.js'
import { useAttempt } from './attempt.js'

/** The form for the one-time code. It submits itself when all six digits are typed. */
export function CodeForm({
  email,
  submit = words.code.submit,
  onSignedIn,
  onOtherWay,
}: {
  readonly email: string
  readonly submit?: string
  readonly onSignedIn: () => void
  /** Undefined: there is no other way to sign in here. */
  readonly onOtherWay: (() => void) | undefined
}): JSX.Element {
  const [code, setCode] = useState('')
  const [sentAgain, setSentAgain] = useState(false)
  const attempt = useAttempt({ byMail: true, email, onSignedIn })
  const verify = useSubmit(() =>
    attempt.run((factor) => call('POST', '/auth/otp/verify', { body: { email, code, ...factor } })),
  )
  const again = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email } })
    setSentAgain(true)
  })
  if (attempt.step !== undefined) return attempt.step
  const fault = verify.fault ?? again.fault
  const linkMailed = again.fault === 'account_locked'
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        verify.run()
      }}
    >
      <Notice tone="plain" icon="mail">
        {linkMailed && words.code.linkMailed(email)}
        {!linkMailed && (sentAgain ? words.code.sentAgain(email) : words.code.sent(email))}
      </Notice>
      <CodeField
        label={words.code.label}
        value={code}
        fault={fault && words.fault(fault)}
        onInput={setCode}
        onComplete={verify.run}
      />
      <Button kind="primary" type="submit" busy={verify.busy}>
        {submit}
      </Button>
      <div class="row">
        <button type="button" class="link" onClick={again.run}>
          {words.code.again}
        </button>
        {onOtherWay !== undefined && (
          <button type="button" class="link" onClick={onOtherWay}>
            {words.code.otherWay}
          </button>
        )}
      </div>
    </form>
  )
}
