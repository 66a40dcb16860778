import { TippingError } from '../../sdk/client/errors.js'
import { pause } from '../../sdk/client/pause.js'
import { balanceOf } from '../lib/rpc.js'
import { forget, recall, remember } from '../lib/store.js'
import type { Account } from '../lib/wallets.js'
import { framed, tellOpener, tellParent } from './around.js'
import { carried } from './arrival.js'
import type { Command, Event } from './events.js'
import { detailOf, type Thrown, walletFault } from './faults.js'
import { chosenCents, chosenToken } from './form.js'
import { advance } from './machine.js'
import { endpointFor, payWith } from './pay.js'
import { makePhoneLinks } from './phone-links.js'
import type { TipService } from './service.js'
import type { NairaTip, Payment, State, StepName } from './state.js'
import type { WalletBook } from './wallet-book.js'
import { followOnChain, watchNaira, watchPayment, watchSession } from './watch.js'

type Of<Do extends Command['do']> = Extract<Command, { do: Do }>

/** What the driver works with; the wallets and the service come when the page has them. */
export interface Means {
  readonly service: TipService
  readonly wallets: WalletBook
  readonly token: string
}

interface Kept {
  readonly payment?: Payment
  readonly naira?: NairaTip
}

const keptKey = () => `tip:under-way:${location.pathname}`
const recordTries = 5
const recordPauseMs = 1500
const freshLinksMs = 50_000
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
    const work = this.#work(command)
    // A watch that is over ends by being aborted; everything else answers by itself.
    work?.catch((error: unknown) => {
      if (error instanceof TippingError && error.code === 'invalid_session_token')
        this.dispatch({ type: 'session-dead' })
    })
  }

  #work(command: Command): Promise<void> | undefined {
    switch (command.do) {
      case 'tell':
        return void tellParent(command.message) as undefined
      case 'keep':
        return void remember(keptKey(), { payment: command.payment, naira: command.naira }) as undefined
      case 'forget':
        return void forget(keptKey()) as undefined
      case 'open-window':
        return void this.#openWindow() as undefined
      default:
        return this.#means === undefined ? undefined : this.#ask(command, this.#means)
    }
  }

  #ask(command: Command, means: Means): Promise<void> | undefined {
    const { service } = means
    const { signal } = this.#watching
    switch (command.do) {
      case 'connect':
        return this.#connect(command, means)
      case 'price':
        return this.#price(command, means)
      case 'pay':
        return this.#pay(command, means)
      case 'hand-off':
        return this.#handOff(command, means, signal)
      case 'watch':
        return watchPayment(service, command.payment, this.dispatch, signal)
      case 'listen':
        return watchSession(service, this.dispatch, signal)
      case 'watch-naira':
        return watchNaira(service, command.intentId, this.dispatch, signal)
      case 'quote-naira':
        return this.#quoteNaira(command, means)
      case 'start-naira':
        return this.#startNaira(command, means)
      default:
        return undefined
    }
  }

  #openWindow(): void {
    const { form } = this.#state
    const hash = `#${this.#means?.token ?? ''}${carried(form, chosenCents(this.#state), true)}`
    this.#popup = window.open(location.pathname + location.search + hash, 'tip', windowFeatures)
    this.dispatch({ type: 'popup', opened: this.#popup !== null })
  }

  async #connect({ attempt, wallet }: Of<'connect'>, { wallets }: Means): Promise<void> {
    try {
      const account = await wallets.find(wallet.id)?.connect()
      if (account === undefined) throw Object.assign(new Error('The wallet is gone'), { code: 4100 })
      this.#account = account
      const here = account.chains.includes(this.#state.session?.chain ?? '')
      this.dispatch({ type: 'connected', attempt, address: account.address, here })
    } catch (error) {
      const thrown = error as Thrown
      this.dispatch({ type: 'pay-failed', attempt, fault: walletFault(thrown), detail: detailOf(thrown) })
    }
  }

  async #price({ attempt, address, cents }: Of<'price'>, { service }: Means): Promise<void> {
    const { session } = this.#state
    const mint = chosenToken(this.#state)?.mint
    if (session === undefined || mint === undefined) return
    try {
      const [intent, balance] = await Promise.all([
        service.tip(session.creator.id, cents, mint, address),
        session.rpcUrl === null ? undefined : balanceOf(session.rpcUrl, address, mint).catch(() => undefined),
      ])
      this.dispatch({ type: 'priced', attempt, intent, balance })
    } catch (error) {
      const code = error instanceof TippingError ? error.code : 'network'
      if (code === 'invalid_session_token') throw error
      this.dispatch({ type: 'price-failed', attempt, code })
    }
  }

  async #pay({ attempt, walletId, intent, message }: Of<'pay'>, means: Means): Promise<void> {
    const wallet = means.wallets.find(walletId)
    const account = this.#account
    const { session } = this.#state
    if (session === undefined) return
    if (wallet === undefined || account === undefined) {
      this.dispatch({ type: 'pay-failed', attempt, fault: 'disconnected', detail: '' })
      return
    }
    const paid = await payWith(wallet, account, intent, session, () => this.#state.attempt === attempt)
    if (paid === undefined) return
    if (!paid.sent) {
      this.dispatch({ type: 'pay-failed', attempt, fault: paid.fault, detail: paid.detail })
      return
    }
    const { signature, signed } = paid
    const payment = { intentId: intent.intentId, signature }
    this.dispatch({ type: 'sent', payment })
    if (signature === null) return
    const url = endpointFor(session, intent)
    const { signal } = this.#watching
    if (signed !== undefined && url !== null)
      followOnChain(url, intent, signature, signed, this.dispatch, signal).catch(() => undefined)
    await record(() => means.service.record(payment, intent, account.address, message))
  }

  async #handOff({ cents, mint }: Of<'hand-off'>, { service }: Means, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const links = await makePhoneLinks(service, this.#state.form, cents, mint)
      if (!signal.aborted) this.dispatch({ type: 'handed-off', links })
      await pause(freshLinksMs, signal)
    }
  }

  async #quoteNaira({ cents }: Of<'quote-naira'>, { service }: Means): Promise<void> {
    try {
      this.dispatch({ type: 'quoted', quote: await service.nairaQuote(cents) })
    } catch {
      this.dispatch({ type: 'quote-failed' })
    }
  }

  async #startNaira({ attempt, quote, form }: Of<'start-naira'>, { service }: Means): Promise<void> {
    try {
      const tip = await service.nairaTip(this.#state.session?.creator.id ?? '', quote, form)
      this.dispatch({ type: 'naira-started', attempt, tip })
    } catch (error) {
      const code = error instanceof TippingError ? error.code : 'network'
      this.dispatch({ type: 'naira-refused', attempt, code })
    }
  }
}

/** The message travels with this. The payment itself is found without it, so that giving up costs no money. */
async function record(send: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await send()
      return
    } catch (error) {
      const hopeless = !(error instanceof TippingError && error.temporary) || tries === recordTries
      if (hopeless) return
      await pause(recordPauseMs * tries, undefined)
    }
  }
}
