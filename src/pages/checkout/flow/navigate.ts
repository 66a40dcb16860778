import type { Event, Next } from '../machine/events.js'
import { screenOf } from '../machine/screens.js'
import type { State, StepName } from '../machine/state.js'
import { returnToLeft, startOver, submittedForm } from './choose.js'
import { stay } from './next.js'
import { otherWallet, usePhone } from './wallet.js'

type Of<Type extends Event['type']> = Extract<Event, { type: Type }>

/** Money may be moving, or the result is shown: Back does not offer to pay again. */
const fixed: readonly StepName[] = [
  'loading',
  'session-over',
  'approving',
  'sent',
  'done',
  'naira-done',
  'mismatch',
]

/** The browser's Back or Forward. What cannot be shown again leads to the screen before it. */
export function navigated(state: State, { screen }: Of<'navigated'>): Next {
  if (fixed.includes(state.step.at) || screen === screenOf(state.step.at)) return stay(state)
  if (screen === 'form') return startOver(state, { type: 'start-over' })
  if (screen === 'payment')
    return state.left === undefined ? startOver(state, { type: 'start-over' }) : returnToLeft(state)
  if (state.form.method === 'naira') return startOver(state, { type: 'start-over' })
  const wallets = state.step.at === 'choose' ? submittedForm(state) : otherWallet(state)
  return screen === 'other-device' && wallets.state.step.at === 'wallets' ? usePhone(wallets.state) : wallets
}
