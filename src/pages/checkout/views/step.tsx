import type { ComponentChildren, JSX } from 'preact'
import { words } from '../../i18n/checkout.js'
import { explorerUrl } from '../../lib/solana.js'
import { Button, LinkButton } from '../../ui/controls/button.js'
import { Icon } from '../../ui/icon.js'
import type { Event } from '../machine/events.js'
import type { State, Step, StepName } from '../machine/state.js'

export type Dispatch = (event: Event) => void

/** The props of a step's view. */
export interface ViewOf<At extends StepName> {
  readonly state: State
  readonly step: Extract<Step, { at: At }>
  readonly dispatch: Dispatch
}

/** The heading of a step. It gets the focus when the step appears, so that screen readers continue there. */
export function Heading({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <h2 tabIndex={-1} data-heading>
      {children}
    </h2>
  )
}

/** The buttons of a step, the most likely one first. */
export function Actions({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="actions">{children}</div>
}

/** A link to the transaction in a public explorer. */
export function explorerLink(signature: string, text: string): JSX.Element {
  return (
    <LinkButton href={explorerUrl(signature)} newTab>
      {text} <Icon name="out" />
    </LinkButton>
  )
}

/** Returns to the form, which keeps its values. */
export function Back({ dispatch }: { readonly dispatch: Dispatch }): JSX.Element {
  return (
    <Button kind="quiet" onPress={() => dispatch({ type: 'start-over' })}>
      {words.back}
    </Button>
  )
}
