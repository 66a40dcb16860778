import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Field } from '../../ui/controls/field.js'
import { Notice } from '../../ui/messages/notice.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'

const codeLength = 6

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
  const input = useRef<HTMLInputElement>(null)
  const verify = useSubmit(async () => {
    await call('POST', '/auth/otp/verify', { body: { email, code } })
    onSignedIn()
  })
  const again = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email } })
    setSentAgain(true)
  })
  useEffect(() => input.current?.focus(), [])
  useEffect(() => {
    if (code.length === codeLength) verify.run()
    // Submit each code once.
  }, [code])
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
      <Field label={words.code.label} fault={fault && words.fault(fault)}>
        <input
          ref={input}
          class="input code"
          name="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          required
          value={code}
          onInput={({ currentTarget }) => {
            const digits = currentTarget.value.replace(/\D/g, '').slice(0, codeLength)
            currentTarget.value = digits
            setCode(digits)
          }}
        />
      </Field>
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
