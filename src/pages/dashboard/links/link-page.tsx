import { useEffect } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { saveFile } from '../../lib/browser.js'
import { Form } from '../../ui/fields.js'
import { Button, Notice } from '../../ui/kit.js'
import { call, request } from '../api.js'
import { OutsidePage } from '../parts/cards.js'
import { Submit } from '../parts/forms.js'
import { useForm } from '../requests.js'
import { NewPasswordField, passwordFaults } from '../sign-in/password-field.js'
import { showForm } from '../sign-in/sign-in-page.js'
import { linkPaths, type MailedLink } from './mailed-link.js'

interface LinkPageProps {
  link: MailedLink
  /** `done`: the link did its work; else it was too late for that. */
  onDone: (done: boolean) => void
}

/** What a mailed link does. It happens when the button is pressed: mail scanners open links. */
export function LinkPage({ link: { kind, token }, onDone }: LinkPageProps) {
  const text = words.links[kind]
  const act = useForm({ newPassword: '' }, async (typed) => {
    const body = kind === 'reset-password' ? { token, ...typed } : { token }
    if (kind === 'export') {
      const file = await request('POST', linkPaths.export, { body })
      saveFile('account-data.json', await file.text(), 'application/json')
    } else await call('POST', linkPaths[kind], { body })
  })
  const { done } = act
  const title = done ? text.doneTitle : text.title
  // The browser's history must not keep the token.
  useEffect(() => history.replaceState(undefined, '', location.pathname), [])
  useEffect(() => {
    document.title = `${title} · ${words.brand}`
  }, [title])
  if (done)
    return (
      <OutsidePage title={title}>
        <Notice tone="good" text={text.done} />
        <Button kind="primary" text={text.next} onPress={() => onDone(true)} />
      </OutsidePage>
    )
  // The link was used, or is too old.
  if (act.fault === 'invalid_link')
    return (
      <OutsidePage title={title}>
        <Notice tone="warn" urgent title={words.links.gone} text={text.remedy} />
        <Button
          kind="primary"
          text={text.otherWay}
          onPress={() => {
            if (kind === 'reset-password' || kind === 'not-me') showForm('forgot')
            onDone(false)
          }}
        />
      </OutsidePage>
    )
  return (
    <OutsidePage title={title}>
      <Form onSubmit={act.run}>
        <p>{text.lead}</p>
        {kind === 'reset-password' && (
          <NewPasswordField
            label={words.password.new}
            email=""
            {...act.field('newPassword', passwordFaults)}
          />
        )}
        <Submit text={text.submit} kind={kind === 'not-me' ? 'danger' : 'primary'} of={act} />
      </Form>
    </OutsidePage>
  )
}
