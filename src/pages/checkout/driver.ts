import { TippingError } from '../../sdk/client/errors.js'
import { words } from '../i18n/checkout.js'
import { keep, readFromTab, removeFromTab, storeInTab } from '../lib/browser.js'
import { StepHistory } from '../lib/step-history.js'
import { type Resources, runCommand } from './commands.js'
import { advanceCheckout } from './flow/machine.js'
import type { Command, Event } from './machine/events.js'
import { chosenCents } from './machine/form.js'
import type { Saved, State, StepName } from './machine/state.js'
import { type Screen, screenOf } from './machine/steps.js'
import { framed, postToOpener, postToParent } from './parent-page.js'
import { currencyKey, formFragment, storeDraft } from './start-parameters.js'

const savedKey = () => `tip:under-way:${location.pathname}`
/** A tab that still has nothing to show is closed again, so that a slow provider is seen on this page. */
const tabWaitMs = 3000
const windowFeatures = 'popup,width=440,height=760'

/** Runs the state machine in a browser: executes its commands and dispatches their results. */
export class CheckoutDriver {
  #state: State
  #resources: Resources | undefined
  #popup: Window | null = null
  /** Waits for the provider's address. */
  #tab: Window | null = null
  #stepAbort = new AbortController()
  readonly #history = new StepHistory<Screen>(framed)
  readonly #show: (state: State) => void

  constructor(state: State, show: (state: State) => void) {
    this.#state = state
    this.#show = show
    this.#history.follow((screen) => {
      if (screen !== undefined) this.dispatch({ type: 'navigated', screen })
    })
  }

  /** Makes commands possible, and resumes a payment that was under way when the page was left. */
  begin(resources: Resources): void {
    this.#resources = resources
    const { payment, naira, left, done } = readFromTab<Saved>(savedKey()) ?? {}
    if (payment !== undefined) this.dispatch({ type: 'resumed', payment })
    if (naira !== undefined) this.dispatch({ type: 'resumed-naira', tip: naira, left })
    if (done !== undefined) this.dispatch({ type: 'resumed-done', done })
  }

  readonly dispatch = (event: Event): void => {
    const {
      step: { at: before },
      form,
    } = this.#state
    const { state, commands } = advanceCheckout(this.#state, event)
    this.#state = state
    if (state.step.at !== before) this.#onStepEntered(state.step.at)
    if (state.form !== form && state.session !== undefined) storeDraft(state.form)
    if (event.type === 'edited' && state.form.currency !== form.currency)
      keep(currencyKey, state.form.currency)
    const screen = screenOf(state.step.at)
    if (screen !== undefined) this.#history.show(screen, event.type === 'navigated')
    this.#show(state)
    for (const command of commands) this.#run(command)
  }

  showPopup(): void {
    if (this.#popup === null || this.#popup.closed) this.#openWindow()
    else this.#popup.focus()
  }

  /** Shows the screen of the history's entry again, after a reload. */
  restoreScreen(): void {
    const screen = this.#history.begin()
    const shown = screenOf(this.#state.step.at)
    if (screen !== undefined) this.dispatch({ type: 'navigated', screen })
    else if (shown !== undefined) this.#history.show(shown, true)
  }

  #onStepEntered(at: StepName): void {
    this.#stepAbort.abort()
    this.#stepAbort = new AbortController()
    if (!framed) postToOpener(at)
    if (at !== 'naira-starting') this.#fillTab()
  }

  /** Opens in the supporter's tap the tab of the provider's page. A browser that refuses it leaves the link. */
  #openTab(): void {
    this.#tab?.close()
    const tab = window.open('', '_blank')
    this.#tab = tab
    if (tab === null) return
    // The provider's page must not reach this one.
    tab.opener = null
    tab.document.title = words.starting
    tab.document.body.textContent = words.starting
    setTimeout(() => {
      if (this.#tab === tab) this.#closeTab()
    }, tabWaitMs)
  }

  #closeTab(): void {
    this.#tab?.close()
    this.#tab = null
  }

  /** The payment was started, or it was not. */
  #fillTab(): void {
    const { step } = this.#state
    const address = step.at === 'naira-waiting' ? step.tip.checkoutUrl : null
    if (address !== null) {
      this.#tab?.location.replace(address)
      this.#tab = null
    } else this.#closeTab()
  }

  #run(command: Command): void {
    if (command.do === 'notify-parent') postToParent(command.message)
    else if (command.do === 'save') storeInTab(savedKey(), command)
    else if (command.do === 'clear-saved') removeFromTab(savedKey())
    else if (command.do === 'open-window') this.#openWindow()
    else if (command.do === 'open-tab') this.#openTab()
    else if (this.#resources !== undefined)
      runCommand(command, {
        ...this.#resources,
        dispatch: this.dispatch,
        state: () => this.#state,
        signal: () => this.#stepAbort.signal,
        leaveFor: (address) => this.#leaveFor(address),
      }).catch(this.#onCommandFailed)
  }

  /** A command fails only when it is aborted, or when the session is over. */
  readonly #onCommandFailed = (error: unknown): void => {
    const over = error instanceof TippingError && error.status === 401
    if (over) this.dispatch({ type: 'session-over' })
  }

  /** Leaves this page for the checkout of another session. The amount and the token are kept. */
  #leaveFor(address: string): void {
    // Back may show this page as it was left, which waits. Loaded again it shows the receipt.
    addEventListener('pageshow', () => location.reload())
    const { form } = this.#state
    location.assign(address + formFragment(form, chosenCents(this.#state), false))
  }

  /** The fragment carries the session token. That is safe: the new window has this page's origin. */
  #openWindow(): void {
    const { form } = this.#state
    const hash = `#${this.#resources?.token ?? ''}${formFragment(form, chosenCents(this.#state), true)}`
    this.#popup = window.open(location.pathname + location.search + hash, 'tip', windowFeatures)
    this.dispatch({ type: 'popup', opened: this.#popup !== null })
  }
}
