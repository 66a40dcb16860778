import type { ComponentChildren, JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { Button } from '../../ui/button.js'
import type { Event } from '../machine/events.js'
import type { State, Step, StepName } from '../machine/state.js'

export type Dispatch = (event: Event) => void

/** What every view of a step is given. */
export interface ViewOf<At extends StepName> {
  readonly state: State
  readonly step: Extract<Step, { at: At }>
  readonly dispatch: Dispatch
}

/** The heading of a step takes the focus when the step appears, so that readers go on where the page does. */
export function Heading({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <h2 tabIndex={-1} data-heading>
      {children}
    </h2>
  )
}

/** The buttons of a step, the one most people want first. */
export function Actions({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="actions">{children}</div>
}

/** Back to the form, which keeps what was filled in. */
export function Back({ dispatch }: { readonly dispatch: Dispatch }): JSX.Element {
  return (
    <Button kind="quiet" onPress={() => dispatch({ type: 'start-over' })}>
      {words.back}
    </Button>
  )
}
