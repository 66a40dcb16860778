import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { Form } from '../../ui/fields.js'
import { Button, Notice, TextButton } from '../../ui/kit.js'
import { call, codeOf } from '../api.js'
import { CodeField, FactorField, factorFault } from '../parts/fields.js'
import { Submit } from '../parts/forms.js'
import { FaultNotice } from '../parts/notices.js'
import { useForm, useSubmit } from '../requests.js'
import { askForPasskey, knowsPasskeys } from './passkeys.js'

const text = words.factor

/** Sends a sign-in, with the second factor if there is one. `notMine`: somebody else has set that up. */
type Attempt = (factor: { readonly totp?: string; readonly notMine?: true }) => Promise<unknown>

interface Way {
  /** By a mailed code or link: whoever reads the mail can say that somebody else has set up the second factor. */
  readonly byMail?: boolean
  readonly email: string | undefined
  readonly onSignedIn: () => void
}

/** Signs in. Of an account with a second factor, `step` asks for it in place of the form and repeats the attempt. */
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
function FactorStep({ attempt, byMail = false, email, onSignedIn, onBack }: Step) {
  const [way, setWay] = useState<'app' | 'recovery' | 'not-mine'>('app')
  const check = useForm({ totp: '' }, async ({ totp }) => {
    await attempt({ totp: totp.trim() })
    onSignedIn()
  })
  const field = check.field('totp', 'all', factorFault)
  if (way === 'not-mine')
    return <NotMine attempt={attempt} email={email} onSignedIn={onSignedIn} onBack={() => setWay('app')} />
  return (
    <Form onSubmit={check.run}>
      <Notice tone="plain" icon="phone" urgent title={text.title} text={text.lead} />
      {way === 'app' ? (
        <CodeField label={text.code} {...field} onComplete={check.run} />
      ) : (
        <FactorField app={false} {...field} />
      )}
      <Submit text={text.submit} of={check} />
      <PasskeyButton email={email} onSignedIn={onSignedIn} />
      <div class="row">
        <TextButton
          text={way === 'app' ? text.useRecovery : text.useApp}
          onPress={() => {
            setWay(way === 'app' ? 'recovery' : 'app')
            check.set({ totp: '' })
          }}
        />
        {byMail && <TextButton text={text.notMine} onPress={() => setWay('not-mine')} />}
        <TextButton text={words.back} onPress={onBack} />
      </div>
    </Form>
  )
}

/** Signs in without the second factor, if the e-mail address was never proven before, and voids what was set up. */
function NotMine({ attempt, onSignedIn, onBack }: Step) {
  const startOver = useSubmit(async () => {
    await attempt({ notMine: true })
    onSignedIn()
  })
  const proven = startOver.fault === 'second_factor_required'
  return (
    <div class="stack">
      <Notice
        tone="warn"
        urgent
        title={text.notMineTitle}
        text={proven ? text.notMineProven : text.notMineEffect}
      />
      {!proven && (
        <>
          <FaultNotice fault={startOver.fault} />
          <Button kind="danger" does={startOver} text={text.notMineSubmit} />
        </>
      )}
      <TextButton text={words.back} onPress={onBack} />
    </div>
  )
}

/** Asks the browser for a passkey, with the options that a path of the API makes. */
export async function askForPasskeyBy(path: string): Promise<AuthenticationResponseJSON> {
  const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>('POST', path, {
    body: {},
  })
  return askForPasskey(options)
}

/** Signs in with a passkey alone. Renders nothing in a browser without passkeys. */
export function PasskeyButton({ email, onSignedIn }: Way) {
  const signIn = useSubmit(async () => {
    const body = { response: await askForPasskeyBy('/auth/passkeys/login/options') }
    const { user } = await call<{ user: { email: string } }>('POST', '/auth/passkeys/login', { body })
    // The person chose a passkey of another account: nothing of this page may go on in that one.
    if (email !== undefined && user.email !== email) location.reload()
    else onSignedIn()
  })
  if (!knowsPasskeys()) return null
  return (
    <>
      <Button does={signIn} text={text.passkey} />
      <FaultNotice fault={signIn.fault} />
    </>
  )
}
