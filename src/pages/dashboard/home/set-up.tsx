import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { shortAddress } from '../../lib/tip-text.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Icon } from '../../ui/icon.js'
import { Dialog } from '../../ui/messages/dialog.js'
import type { ApiKey } from '../answers.js'
import { call } from '../api.js'
import { overlayWasCopied } from '../overlay/overlay-settings.js'
import { ScreenLink } from '../parts/screen-link.js'
import { useSession } from '../session.js'
import { CodeForm } from '../sign-in/code-form.js'
import { useLoad } from '../use-load.js'
import { useSubmit } from '../use-submit.js'

/** The set-up steps; disappears when all are done. */
export function SetUp(): JSX.Element | null {
  const { me, refresh } = useSession()
  const keys = useLoad<{ apiKeys: readonly ApiKey[] }>('/creators/api-keys')
  const [verifying, setVerifying] = useState(false)
  const send = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email: me.email } })
    setVerifying(true)
  })
  const verified = me.emailVerifiedAt !== null
  const hasKey = (keys.data?.apiKeys.length ?? 0) > 0
  const overlayDone = me.walletPublicKey !== null && overlayWasCopied(me.walletPublicKey)
  if (keys.data === undefined || (verified && me.walletPublicKey && hasKey && overlayDone)) return null
  return (
    <section class="card set-up" aria-labelledby="set-up-title">
      <h2 id="set-up-title">{words.setUp.title}</h2>
      <ul class="steps">
        <Step done={verified} text={words.setUp.email}>
          {!verified && (
            <button type="button" class="link" onClick={send.run}>
              {words.setUp.verify}
            </button>
          )}
        </Step>
        <Step
          done={me.walletPublicKey !== null}
          text={me.walletPublicKey === null ? words.setUp.walletComing : words.setUp.wallet}
        >
          {me.walletPublicKey !== null && (
            <span class="address">
              <code title={me.walletPublicKey}>{shortAddress(me.walletPublicKey)}</code>
              <CopyButton value={me.walletPublicKey} label={words.setUp.walletAddress} />
            </span>
          )}
        </Step>
        <Step done={hasKey} text={words.setUp.key}>
          {!hasKey && <ScreenLink to="developers">{words.setUp.makeKey}</ScreenLink>}
        </Step>
        <Step done={overlayDone} text={words.setUp.overlay}>
          {!overlayDone && <ScreenLink to="overlay">{words.setUp.addOverlay}</ScreenLink>}
        </Step>
      </ul>
      {send.fault !== undefined && (
        <p class="field__fault" role="alert">
          {words.fault(send.fault)}
        </p>
      )}
      {verifying && (
        <Dialog title={words.setUp.verifyTitle} onClose={() => setVerifying(false)}>
          <CodeForm
            email={me.email}
            onSignedIn={() => {
              setVerifying(false)
              refresh()
            }}
            onOtherWay={undefined}
          />
          <Button onPress={() => setVerifying(false)}>{words.cancel}</Button>
        </Dialog>
      )}
    </section>
  )
}

function Step({
  done,
  text,
  children,
}: {
  readonly done: boolean
  readonly text: string
  readonly children?: JSX.Element | false
}): JSX.Element {
  return (
    <li class={`steps__step ${done ? 'steps__step--done' : ''}`}>
      <span class="steps__mark">
        {done && <Icon name="tick" size={16} />}
        <span class="visually-hidden">{done ? words.setUp.done : words.setUp.open}</span>
      </span>
      <span>{text}</span>
      {children}
    </li>
  )
}
