import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { codeOf } from '../api.js'
import { type Attempt, FactorStep } from './factor-step.js'

/**
 * Signs in. When the account has a second factor, `step` asks for it and repeats the attempt with it; it is shown in place of
 * the form.
 */
export function useAttempt({
  byMail = false,
  email,
  onSignedIn,
}: {
  readonly byMail?: boolean
  /** The account whose page this is, if there is one. */
  readonly email: string | undefined
  readonly onSignedIn: () => void
}): { readonly run: (attempt: Attempt) => Promise<void>; readonly step: JSX.Element | undefined } {
  const [waiting, setWaiting] = useState<{ readonly attempt: Attempt }>()
  const run = async (attempt: Attempt): Promise<void> => {
    try {
      await attempt({})
    } catch (error) {
      if (codeOf(error) !== 'second_factor_required') throw error
      setWaiting({ attempt })
      return
    }
    onSignedIn()
  }
  const step = waiting && (
    <FactorStep
      attempt={waiting.attempt}
      byMail={byMail}
      email={email}
      onSignedIn={onSignedIn}
      onBack={() => setWaiting(undefined)}
    />
  )
  return { run, step }
}
