import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { shortAddress } from '../../lib/tip-text.js'
import { Button } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Icon } from '../../ui/icon.js'
import { Dialog } from '../../ui/messages/dialog.js'
import type { ApiKey, Profile } from '../answers.js'
import { call } from '../api.js'
import { overlayWasCopied } from '../overlay/overlay-settings.js'
import { useDrawer } from '../parts/drawer.js'
import { ScreenLink } from '../parts/screen-link.js'
import { useSession } from '../session.js'
import { CodeForm } from '../sign-in/code-form.js'
import type { Loaded } from '../use-load.js'
import { useSubmit } from '../use-submit.js'
import { ReceiveChoice } from './receive-choice.js'

/** The set-up steps; disappears when all are done. */
export function SetUp({
  keys,
  profile,
}: {
  readonly keys: Loaded<{ apiKeys: readonly ApiKey[] }>
  readonly profile: Loaded<{ creator: Profile }>
}): JSX.Element | null {
  const { me, refresh } = useSession()
  const drawer = useDrawer()
  const send = useSubmit(async () => {
    await call('POST', '/auth/otp/start', { body: { email: me.email } })
    drawer.show('verify')
  })
  const verified = me.emailVerifiedAt !== null
  const hasKey = (keys.data?.apiKeys.length ?? 0) > 0
  const chosen = profile.data?.creator.tokensChosen ?? true
  const overlayDone = me.walletPublicKey !== null && overlayWasCopied(me.walletPublicKey)
  if (keys.data === undefined || (verified && me.walletPublicKey && hasKey && overlayDone && chosen))
    return null
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
        <Step done={chosen} text={words.setUp.receive}>
          {!chosen && (
            <button type="button" class="link" onClick={() => drawer.show('receive')}>
              {words.setUp.chooseReceive}
            </button>
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
      {drawer.open === 'receive' && (
        <ReceiveChoice
          onClose={drawer.close}
          onSaved={() => {
            drawer.close()
            profile.reload()
          }}
        />
      )}
      {drawer.open === 'verify' && !verified && (
        <Dialog title={words.setUp.verifyTitle} onClose={drawer.close}>
          <CodeForm
            email={me.email}
            submit={words.setUp.confirmEmail}
            onSignedIn={() => {
              drawer.close()
              refresh()
            }}
            onOtherWay={undefined}
          />
          <Button onPress={drawer.close}>{words.cancel}</Button>
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
