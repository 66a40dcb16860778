import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { CodeField } from '../parts/fields/code-field.js'
import { FactorField } from '../parts/fields/factor-field.js'
import { useSubmit } from '../use-submit.js'
import { PasskeyButton } from './passkey-button.js'

/** Sends a sign-in, with the second factor if there is one. `notMine`: somebody else has set that up. */
export type Attempt = (factor: { readonly totp?: string; readonly notMine?: true }) => Promise<unknown>

/** Asks for the second factor of a sign-in: a code of the app, a recovery code or a passkey. */
export function FactorStep({
  attempt,
  byMail,
  email,
  onSignedIn,
  onBack,
}: {
  readonly attempt: Attempt
  /** By a mailed code or link: whoever reads the mail can say that somebody else has set up the second factor. */
  readonly byMail: boolean
  readonly email: string | undefined
  readonly onSignedIn: () => void
  readonly onBack: () => void
}): JSX.Element {
  const [way, setWay] = useState<'app' | 'recovery' | 'not-mine'>('app')
  const [totp, setTotp] = useState('')
  const check = useSubmit(async () => {
    await attempt({ totp: totp.trim() })
    onSignedIn()
  })
  const fault = factorFault(check.fault)
  const change = (text: string): void => {
    setTotp(text)
    check.clear()
  }
  if (way === 'not-mine')
    return <NotMine attempt={attempt} onSignedIn={onSignedIn} onBack={() => setWay('app')} />
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        check.run()
      }}
    >
      <Notice tone="plain" icon="phone" urgent>
        <strong>{words.factor.title}</strong>
        <p>{words.factor.lead}</p>
      </Notice>
      {way === 'app' ? (
        <CodeField
          label={words.factor.code}
          value={totp}
          fault={fault}
          onInput={change}
          onComplete={check.run}
        />
      ) : (
        <FactorField app={false} value={totp} fault={fault} onInput={change} />
      )}
      <Button kind="primary" type="submit" busy={check.busy}>
        {words.factor.submit}
      </Button>
      <PasskeyButton label={words.factor.passkey} email={email} onSignedIn={onSignedIn} />
      <div class="row">
        <button
          type="button"
          class="link"
          onClick={() => {
            setWay(way === 'app' ? 'recovery' : 'app')
            change('')
          }}
        >
          {way === 'app' ? words.factor.useRecovery : words.factor.useApp}
        </button>
        {byMail && (
          <button type="button" class="link" onClick={() => setWay('not-mine')}>
            {words.factor.notMine}
          </button>
        )}
        <button type="button" class="link" onClick={onBack}>
          {words.back}
        </button>
      </div>
    </form>
  )
}

/** Signs in without the second factor, if the e-mail address was never proven before, and voids what was set up. */
function NotMine({
  attempt,
  onSignedIn,
  onBack,
}: {
  readonly attempt: Attempt
  readonly onSignedIn: () => void
  readonly onBack: () => void
}): JSX.Element {
  const startOver = useSubmit(async () => {
    await attempt({ notMine: true })
    onSignedIn()
  })
  const proven = startOver.fault === 'second_factor_required'
  return (
    <div class="stack">
      <Notice tone="warn" icon="warn" urgent>
        <strong>{words.factor.notMineTitle}</strong>
        <p>{proven ? words.factor.notMineProven : words.factor.notMineEffect}</p>
      </Notice>
      {!proven && (
        <>
          <FaultNotice fault={startOver.fault} />
          <Button kind="danger" busy={startOver.busy} onPress={startOver.run}>
            {words.factor.notMineSubmit}
          </Button>
        </>
      )}
      <button type="button" class="link" onClick={onBack}>
        {words.back}
      </button>
    </div>
  )
}

/** The text for a refused second factor. */
export function factorFault(code: string | undefined): string | undefined {
  return code && words.fault(code === 'account_locked' ? 'factor_locked' : code)
}
