import { TippingError } from '../../../sdk/client/errors.js'
import { forget, recall, remember } from '../../lib/store.js'
import type { Account } from '../../lib/wallets.js'
import * as answers from '../answers.js'
import { framed, tellOpener, tellParent } from '../frame/around.js'
import { carried } from '../frame/arrival.js'
import { endpointFor, payWith } from '../pay.js'
import type { TipService } from '../service.js'
import type { WalletBook } from '../wallet-book.js'
import { followOnChain, watchNaira, watchPayment, watchSession } from '../watch.js'
import type { Command, Event } from './events.js'
import { chosenCents } from './form.js'
import { advance } from './machine.js'
import type { NairaTip, Payment, State, StepName } from './state.js'

type Of<Do extends Command['do']> = Extract<Command, { do: Do }>

/** What the driver works with; the wallets and the service come when the page has them. */
interface Means {
  readonly service: TipService
  readonly wallets: WalletBook
  readonly token: string
}

interface Kept {
  readonly payment?: Payment
  readonly naira?: NairaTip
}

const keptKey = () => `tip:under-way:${location.pathname}`
const windowFeatures = 'popup,width=440,height=760'

/** Runs the state machine in a browser: does what it commands and brings it the answers. */
export class Checkout {
  #state: State
  #means: Means | undefined
  #account: Account | undefined
  #popup: Window | null = null
  #watching = new AbortController()
  readonly #show: (state: State) => void

  constructor(state: State, show: (state: State) => void) {
    this.#state = state
    this.#show = show
  }

  /** The means to pay; what was under way when the page was left goes on. */
  begin(means: Means): void {
    this.#means = means
    const { payment, naira } = recall<Kept>(keptKey()) ?? {}
    if (payment !== undefined) this.dispatch({ type: 'resumed', payment })
    if (naira !== undefined) this.dispatch({ type: 'resumed-naira', tip: naira })
  }

  readonly dispatch = (event: Event): void => {
    const before = this.#state.step.at
    const { state, commands } = advance(this.#state, event)
    this.#state = state
    if (state.step.at !== before) this.#arrived(state.step.at)
    this.#show(state)
    for (const command of commands) this.#run(command)
  }

  showPopup(): void {
    this.#popup?.focus()
  }

  /** Nobody waits any more for what was waited for elsewhere. */
  #arrived(at: StepName): void {
    this.#watching.abort()
    this.#watching = new AbortController()
    if (!framed) tellOpener(at)
  }

  #run(command: Command): void {
    if (command.do === 'tell') tellParent(command.message)
    else if (command.do === 'keep') remember(keptKey(), { payment: command.payment, naira: command.naira })
    else if (command.do === 'forget') forget(keptKey())
    else if (command.do === 'open-window') this.#openWindow()
    else if (this.#means !== undefined) this.#ask(command, this.#means).catch(this.#givenUp)
  }

  /** A watch that is over ends by being aborted; every other question answers by itself, unless the session is over. */
  readonly #givenUp = (error: unknown): void => {
    const over = error instanceof TippingError && error.code === 'invalid_session_token'
    if (over) this.dispatch({ type: 'session-dead' })
  }

  async #ask(command: Command, { service, wallets }: Means): Promise<void> {
    const { signal } = this.#watching
    const { session, form } = this.#state
    switch (command.do) {
      case 'connect': {
        const { event, account } = await answers.connect(command, wallets, session?.chain ?? '')
        this.#account = account
        return this.dispatch(event)
      }
      case 'price':
        return this.#hear(await answers.price(command, service, this.#state))
      case 'pay':
        return this.#hear(await this.#pay(command, service, wallets))
      case 'quote-naira':
        return this.#hear(await answers.quoteNaira(command, service))
      case 'start-naira':
        return this.#hear(await answers.startNaira(command, service, session?.creator.id ?? ''))
      case 'hand-off':
        return answers.keepHandingOff(command, service, form, this.dispatch, signal)
      case 'watch':
        return watchPayment(service, command.payment, this.dispatch, signal)
      case 'listen':
        return watchSession(service, this.dispatch, signal)
      case 'watch-naira':
        return watchNaira(service, command.intentId, this.dispatch, signal)
    }
  }

  #hear(event: Event | undefined): void {
    if (event !== undefined) this.dispatch(event)
  }

  /** The whole session goes along, in the fragment: the window is ours, of the same origin. */
  #openWindow(): void {
    const { form } = this.#state
    const hash = `#${this.#means?.token ?? ''}${carried(form, chosenCents(this.#state), true)}`
    this.#popup = window.open(location.pathname + location.search + hash, 'tip', windowFeatures)
    this.dispatch({ type: 'popup', opened: this.#popup !== null })
  }

  async #pay(
    { attempt, walletId, intent, message }: Of<'pay'>,
    service: TipService,
    wallets: WalletBook,
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
    const url = endpointFor(session, intent)
    const { signal } = this.#watching
    if (signed !== undefined && url !== null)
      followOnChain(url, intent, signature, signed, this.dispatch, signal).catch(this.#givenUp)
    await answers.record(() => service.record(payment, intent, account.address, message))
    return undefined
  }
}
