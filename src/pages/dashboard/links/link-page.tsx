import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { saveFile } from '../../lib/save-file.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { call, request } from '../api.js'
import { Brand } from '../parts/brand.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { NewPasswordField } from '../sign-in/password-field.js'
import { showForm } from '../sign-in/sign-in-page.js'
import { useSubmit } from '../use-submit.js'
import { type LinkKind, linkPaths, type MailedLink } from './mailed-link.js'

const passwordFaults = ['invalid_password', 'common_password']

/** What a mailed link does. It happens when the button is pressed: mail scanners open links. */
export function LinkPage({
  link,
  onDone,
}: {
  readonly link: MailedLink
  /** `done`: the link did its work; else it was too late for that. */
  readonly onDone: (done: boolean) => void
}): JSX.Element {
  const { kind, token } = link
  const text = words.links[kind]
  const [password, setPassword] = useState('')
  const [done, setDone] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const act = useSubmit(async () => {
    const body = kind === 'reset-password' ? { token, newPassword: password } : { token }
    if (kind === 'export') {
      const file = await request('POST', linkPaths.export, { body })
      saveFile('account-data.json', await file.text(), 'application/json')
    } else await call('POST', linkPaths[kind], { body })
    setDone(true)
  })
  const gone = act.fault === 'invalid_link'
  const title = done ? text.doneTitle : text.title
  // The browser's history must not keep the token.
  useEffect(() => history.replaceState(undefined, '', location.pathname), [])
  useEffect(() => {
    document.title = `${title} · ${words.brand}`
    if (done) heading.current?.focus()
  }, [title, done])
  const refused = act.fault !== undefined && passwordFaults.includes(act.fault)
  return (
    <main class="sign-in-page">
      <Brand />
      <div class="card">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {done && <Done kind={kind} onNext={() => onDone(true)} />}
        {gone && <Gone kind={kind} onOtherWay={() => onDone(false)} />}
        {!done && !gone && (
          <form
            class="stack"
            onSubmit={(event) => {
              event.preventDefault()
              act.run()
            }}
          >
            <p>{text.lead}</p>
            {kind === 'reset-password' && (
              <NewPasswordField
                label={words.password.new}
                value={password}
                email=""
                fault={refused ? words.fault(act.fault ?? '') : undefined}
                onInput={setPassword}
              />
            )}
            <FaultNotice fault={refused ? undefined : act.fault} />
            <Button kind={kind === 'not-me' ? 'danger' : 'primary'} type="submit" busy={act.busy}>
              {text.submit}
            </Button>
          </form>
        )}
      </div>
    </main>
  )
}

function Done({ kind, onNext }: { readonly kind: LinkKind; readonly onNext: () => void }): JSX.Element {
  return (
    <>
      <Notice tone="good" icon="tick">
        {words.links[kind].done}
      </Notice>
      <Button kind="primary" onPress={onNext}>
        {words.links[kind].next}
      </Button>
    </>
  )
}

/** The link was used, or is too old. */
function Gone({
  kind,
  onOtherWay,
}: {
  readonly kind: LinkKind
  readonly onOtherWay: () => void
}): JSX.Element {
  const { remedy, otherWay } = words.links[kind]
  return (
    <>
      <Notice tone="warn" icon="warn" urgent>
        <strong>{words.links.gone}</strong>
        <p>{remedy}</p>
      </Notice>
      <Button
        kind="primary"
        onPress={() => {
          if (kind === 'reset-password' || kind === 'not-me') showForm('forgot')
          onOtherWay()
        }}
      >
        {otherWay}
      </Button>
    </>
  )
}
