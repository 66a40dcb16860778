import { TippingError } from '../../sdk/client/errors.js'
import { StepHistory } from '../lib/step-history.js'
import { readFromTab, removeFromTab, storeInTab } from '../lib/tab-storage.js'
import type { Account } from '../lib/wallets.js'
import * as commands from './commands.js'
import { advanceCheckout } from './flow/machine.js'
import { framed, postToOpener, postToParent } from './frame/parent-page.js'
import { formFragment } from './frame/start-parameters.js'
import { storeDraft } from './machine/draft.js'
import type { Command, Event } from './machine/events.js'
import { chosenCents } from './machine/form.js'
import { type Screen, screenOf } from './machine/screens.js'
import type { Saved, State, StepName } from './machine/state.js'
import { payWith, rpcEndpointFor } from './pay-with-wallet.js'
import type { TipService } from './service.js'
import type { Wallets } from './wallets.js'
import { resendUntilDecided, watchNaira, watchPayment, watchSession } from './watch.js'

type Of<Do extends Command['do']> = Extract<Command, { do: Do }>

/** What commands need; available once the session is known. */
interface Resources {
  readonly service: TipService
  readonly wallets: Wallets
  readonly token: string
  /** The address of another session's checkout; undefined when the service refuses one. */
  readonly renew: () => Promise<string | undefined>
}

const savedKey = () => `tip:under-way:${location.pathname}`
const windowFeatures = 'popup,width=440,height=760'

/** Runs the state machine in a browser: executes its commands and dispatches their results. */
export class CheckoutDriver {
  #state: State
  #resources: Resources | undefined
  #account: Account | undefined
  #popup: Window | null = null
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
    const screen = screenOf(state.step.at)
    if (screen !== undefined) this.#history.show(screen, event.type === 'navigated')
    this.#show(state)
    for (const command of commands) this.#run(command)
  }

  /** Shows the other window, or opens it again when it was closed. */
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

  /** Stops the commands that belong to the step before. */
  #onStepEntered(at: StepName): void {
    this.#stepAbort.abort()
    this.#stepAbort = new AbortController()
    if (!framed) postToOpener(at)
  }

  #run(command: Command): void {
    if (command.do === 'notify-parent') postToParent(command.message)
    else if (command.do === 'save') storeInTab(savedKey(), command)
    else if (command.do === 'clear-saved') removeFromTab(savedKey())
    else if (command.do === 'open-window') this.#openWindow()
    else if (this.#resources !== undefined)
      this.#runWithResources(command, this.#resources).catch(this.#onCommandFailed)
  }

  /** Commands turn failures into results, except an aborted one and one whose session is over. */
  readonly #onCommandFailed = (error: unknown): void => {
    const over = error instanceof TippingError && error.status === 401
    if (over) this.dispatch({ type: 'session-over' })
  }

  async #runWithResources(command: Command, { service, wallets, renew }: Resources): Promise<void> {
    const { signal } = this.#stepAbort
    const { session, form } = this.#state
    switch (command.do) {
      case 'connect': {
        const { event, account } = await commands.connect(command, wallets, session?.chain ?? '')
        this.#account = account
        return this.dispatch(event)
      }
      case 'price':
        return this.#dispatchResult(await commands.price(command, service, this.#state))
      case 'pay':
        return this.#dispatchResult(await this.#pay(command, service, wallets))
      case 'quote-naira':
        return this.#dispatchResult(await commands.quoteNaira(command, service))
      case 'read-naira-rate':
        return this.#dispatchResult(await commands.readNairaRate(command, service))
      case 'start-naira':
        return this.#dispatchResult(await commands.startNaira(command, service, session?.creator.id ?? ''))
      case 'refresh-phone-links':
        return commands.refreshPhoneLinks(command, service, form, this.dispatch, signal)
      case 'watch-payment':
        return watchPayment(service, command.payment, this.dispatch, signal)
      case 'watch-session':
        return watchSession(service, this.dispatch, signal)
      case 'watch-naira':
        return watchNaira(service, command.intentId, this.dispatch, signal)
      case 'renew':
        return renew().then((address) =>
          address === undefined ? this.dispatch({ type: 'session-over' }) : this.#leaveFor(address),
        )
    }
  }

  #dispatchResult(event: Event | undefined): void {
    if (event !== undefined) this.dispatch(event)
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

  async #pay(
    { attempt, walletId, intent, message }: Of<'pay'>,
    service: TipService,
    wallets: Wallets,
  ): Promise<Event | undefined> {
    const wallet = wallets.find(walletId)
    const account = this.#account
    const { session } = this.#state
    if (session === undefined || wallet === undefined || account === undefined)
      return { type: 'pay-failed', attempt, fault: 'disconnected', detail: '' }
    const paid = await payWith(wallet, account, intent, session, () => this.#state.attempt === attempt)
    if (paid === undefined) return undefined
    if (!paid.sent) return { type: 'pay-failed', attempt, fault: paid.fault, detail: paid.detail }
    const { signature, signed } = paid
    const payment = { intentId: intent.intentId, signature }
    this.dispatch({ type: 'sent', payment })
    if (signature === null) return undefined
    const url = rpcEndpointFor(session, intent)
    const { signal } = this.#stepAbort
    if (signed !== undefined && url !== null)
      resendUntilDecided(url, intent, signature, signed, this.dispatch, signal).catch(this.#onCommandFailed)
    await commands.recordWithRetries(() => service.record(payment, intent, account.address, message))
    return undefined
  }
}
