import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { call } from '../api.js'
import { useSubmit } from '../use-submit.js'
import { useAttempt } from './attempt.js'

/** The token of a mailed link, in the fragment of the page's address. */
export function linkToken(): string | undefined {
  return /^#sign-in=([\w-]+)$/.exec(location.hash)?.[1]
}

/** Signs in with a mailed link, by a button: mail scanners open links, and a link works once. */
export function LinkSignIn({
  token,
  onSignedIn,
  onOtherWay,
}: {
  readonly token: string
  readonly onSignedIn: () => void
  readonly onOtherWay: () => void
}): JSX.Element {
  const attempt = useAttempt({ byMail: true, email: undefined, onSignedIn })
  const logIn = useSubmit(() =>
    attempt.run((factor) => call('POST', '/auth/otp/link', { body: { token, ...factor } })),
  )
  // The browser's history must not keep the token.
  useEffect(() => history.replaceState(undefined, '', location.pathname), [])
  if (attempt.step !== undefined) return attempt.step
  if (logIn.fault === 'invalid_link')
    return (
      <div class="stack">
        <Notice tone="warn" icon="warn" urgent>
          <strong>{words.fault(logIn.fault)}</strong>
          <p>{words.signIn.newLinkHow}</p>
        </Notice>
        <Button kind="primary" onPress={onOtherWay}>
          {words.signIn.newLink}
        </Button>
      </div>
    )
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        logIn.run()
      }}
    >
      <Button kind="primary" type="submit" busy={logIn.busy}>
        {words.signIn.submit}
      </Button>
      {logIn.fault !== undefined && (
        <p class="field__fault" role="alert">
          {words.fault(logIn.fault)}
        </p>
      )}
      <button type="button" class="link" onClick={onOtherWay}>
        {words.signIn.withoutLink}
      </button>
    </form>
  )
}
