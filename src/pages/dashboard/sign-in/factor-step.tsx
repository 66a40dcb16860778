import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Button } from '../../ui/buttons.js'
import { Form } from '../../ui/fields.js'
import { Notice } from '../../ui/messages.js'
import { call, codeOf } from '../api.js'
import { CodeField, FactorField, factorFault } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { TextButton } from '../parts/links.js'
import { FaultNotice } from '../parts/notices.js'
import { useSubmit } from '../requests.js'
import { askForPasskey, knowsPasskeys } from './passkeys.js'

/** Sends a sign-in, with the second factor if there is one. `notMine`: somebody else has set that up. */
type Attempt = (factor: { readonly totp?: string; readonly notMine?: true }) => Promise<unknown>

interface Way {
  /** By a mailed code or link: whoever reads the mail can say that somebody else has set up the second factor. */
  readonly byMail?: boolean
  /** The account whose page this is, if there is one. */
  readonly email: string | undefined
  readonly onSignedIn: () => void
}

/**
 * Signs in. When the account has a second factor, `step` asks for it and repeats the attempt with it; it is shown in place of
 * the form.
 */
export function useAttempt(way: Way): {
  readonly run: (attempt: Attempt) => Promise<void>
  readonly step: JSX.Element | undefined
} {
  const [waiting, setWaiting] = useState<{ readonly attempt: Attempt }>()
  const run = async (attempt: Attempt): Promise<void> => {
    try {
      await attempt({})
    } catch (error) {
      if (codeOf(error) !== 'second_factor_required') throw error
      setWaiting({ attempt })
      return
    }
    way.onSignedIn()
  }
  const step = waiting && <FactorStep {...way} {...waiting} onBack={() => setWaiting(undefined)} />
  return { run, step }
}

interface Step extends Way {
  readonly attempt: Attempt
  readonly onBack: () => void
}

/** Asks for the second factor of a sign-in: a code of the app, a recovery code or a passkey. */
function FactorStep({ attempt, byMail = false, email, onSignedIn, onBack }: Step): JSX.Element {
  const [way, setWay] = useState<'app' | 'recovery' | 'not-mine'>('app')
  const [totp, setTotp] = useState('')
  const check = useSubmit(async () => {
    await attempt({ totp: totp.trim() })
    onSignedIn()
  })
  const change = (text: string): void => {
    setTotp(text)
    check.clear()
  }
  const field = { value: totp, fault: factorFault(check.fault), onInput: change }
  if (way === 'not-mine')
    return <NotMine attempt={attempt} email={email} onSignedIn={onSignedIn} onBack={() => setWay('app')} />
  return (
    <Form onSubmit={check.run}>
      <Notice tone="plain" icon="phone" urgent title={words.factor.title}>
        {words.factor.lead}
      </Notice>
      {way === 'app' ? (
        <CodeField label={words.factor.code} {...field} onComplete={check.run} />
      ) : (
        <FactorField app={false} {...field} />
      )}
      <Submit text={words.factor.submit} busy={check.busy} />
      <PasskeyButton label={words.factor.passkey} email={email} onSignedIn={onSignedIn} />
      <div class="row">
        <TextButton
          onPress={() => {
            setWay(way === 'app' ? 'recovery' : 'app')
            change('')
          }}
        >
          {way === 'app' ? words.factor.useRecovery : words.factor.useApp}
        </TextButton>
        {byMail && <TextButton onPress={() => setWay('not-mine')}>{words.factor.notMine}</TextButton>}
        <TextButton onPress={onBack}>{words.back}</TextButton>
      </div>
    </Form>
  )
}

/** Signs in without the second factor, if the e-mail address was never proven before, and voids what was set up. */
function NotMine({ attempt, onSignedIn, onBack }: Step): JSX.Element {
  const startOver = useSubmit(async () => {
    await attempt({ notMine: true })
    onSignedIn()
  })
  const proven = startOver.fault === 'second_factor_required'
  return (
    <div class="stack">
      <Notice tone="warn" icon="warn" urgent title={words.factor.notMineTitle}>
        {proven ? words.factor.notMineProven : words.factor.notMineEffect}
      </Notice>
      {!proven && (
        <>
          <FaultNotice fault={startOver.fault} />
          <Button kind="danger" busy={startOver.busy} onPress={startOver.run}>
            {words.factor.notMineSubmit}
          </Button>
        </>
      )}
      <TextButton onPress={onBack}>{words.back}</TextButton>
    </div>
  )
}

/** Signs in with a passkey alone. Renders nothing in a browser without passkeys. */
export function PasskeyButton({
  label,
  email,
  onSignedIn,
}: Way & { readonly label: string }): JSX.Element | null {
  const signIn = useSubmit(async () => {
    const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>(
      'POST',
      '/auth/passkeys/login/options',
      { body: {} },
    )
    const body = { response: await askForPasskey(options) }
    const { user } = await call<{ user: { email: string } }>('POST', '/auth/passkeys/login', { body })
    // The person chose a passkey of another account: nothing of this page may go on in that one.
    if (email !== undefined && user.email !== email) location.reload()
    else onSignedIn()
  })
  if (!knowsPasskeys()) return null
  return (
    <>
      <Button busy={signIn.busy} onPress={signIn.run}>
        {label}
      </Button>
      <FaultNotice fault={signIn.fault} />
    </>
  )
}
