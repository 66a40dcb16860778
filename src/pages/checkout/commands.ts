import { TippingError } from '../../sdk/client/errors.js'
import { pause } from '../../sdk/client/wait.js'
import { balanceOf } from '../lib/rpc.js'
import { detailOf, type Thrown, walletFault } from '../lib/wallet-faults.js'
import type { Account } from '../lib/wallets.js'
import { makePhoneLinks } from './frame/phone-links.js'
import type { Command, Event } from './machine/events.js'
import { chosenToken } from './machine/form.js'
import type { State } from './machine/state.js'
import type { TipService } from './service.js'
import type { Wallets } from './wallets.js'

type Of<Do extends Command['do']> = Extract<Command, { do: Do }>

const recordTries = 5
const recordPauseMs = 1500
const renewLinksMs = 50_000
const retryLinksMs = 3000

/** The code of an error. Rethrows the error when the session is over, because that ends the whole checkout. */
function codeOf(error: unknown): string {
  if (!(error instanceof TippingError)) return 'network'
  if (error.status === 401) throw error
  return error.code
}

/** Connects a wallet. The driver keeps the account for signing. */
export async function connect(
  { attempt, wallet }: Of<'connect'>,
  wallets: Wallets,
  chain: string,
): Promise<{ event: Event; account?: Account }> {
  try {
    const account = await wallets.find(wallet.id)?.connect()
    if (account === undefined) throw Object.assign(new Error('The wallet is gone'), { code: 4100 })
    const rightNetwork = account.chains.includes(chain)
    return { account, event: { type: 'connected', attempt, address: account.address, rightNetwork } }
  } catch (error) {
    const thrown = error as Thrown
    return { event: { type: 'pay-failed', attempt, fault: walletFault(thrown), detail: detailOf(thrown) } }
  }
}

/** Creates a payment intent unless there is one, and reads the wallet's balance if there is an RPC endpoint. */
export async function price(
  { attempt, address, cents, intent: held }: Of<'price'>,
  service: TipService,
  state: State,
): Promise<Event | undefined> {
  const { session } = state
  const mint = chosenToken(state)?.mint
  if (session === undefined || mint === undefined) return undefined
  try {
    const [intent, balance] = await Promise.all([
      held ?? service.tip(session.creator.id, cents, mint, address, state.form.message.trim()),
      session.rpcUrl === null ? undefined : balanceOf(session.rpcUrl, address, mint).catch(() => undefined),
    ])
    return { type: 'priced', attempt, intent, balance }
  } catch (error) {
    return { type: 'price-failed', attempt, code: codeOf(error) }
  }
}

export async function quoteNaira({ cents }: Of<'quote-naira'>, service: TipService): Promise<Event> {
  return service.nairaQuote(cents).then(
    (quote) => ({ type: 'naira-quoted', quote }),
    () => ({ type: 'naira-quote-failed' }),
  )
}

export async function readNairaRate({ cents }: Of<'read-naira-rate'>, service: TipService): Promise<Event> {
  return service.nairaRate(cents).then(
    (rate) => ({ type: 'naira-rate', rate }),
    () => ({ type: 'naira-quote-failed' }),
  )
}

export async function startNaira(
  { attempt, quote, form }: Of<'start-naira'>,
  service: TipService,
  creatorId: string,
): Promise<Event> {
  try {
    return { type: 'naira-started', attempt, tip: await service.nairaTip(creatorId, quote, form) }
  } catch (error) {
    return { type: 'naira-refused', attempt, code: codeOf(error) }
  }
}

/** Makes new phone links before the old ones expire, until it is aborted. */
export async function refreshPhoneLinks(
  { cents, mint }: Of<'refresh-phone-links'>,
  service: TipService,
  form: State['form'],
  dispatch: (event: Event) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const links = await makePhoneLinks(service, form, cents, mint).catch((error: unknown) => {
      codeOf(error)
      return undefined
    })
    if (!signal.aborted) dispatch({ type: 'phone-links', links })
    await pause(links === undefined ? retryLinksMs : renewLinksMs, signal)
  }
}

/**
 * Reports the transaction to the service, which then verifies it immediately. The service finds the payment without this
 * and has the message with the intent, so giving up loses nothing.
 */
export async function recordWithRetries(send: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await send()
      return
    } catch (error) {
      const final = !(error instanceof TippingError && error.temporary) || tries === recordTries
      if (final) return
      await pause(recordPauseMs * tries, undefined)
    }
  }
}
