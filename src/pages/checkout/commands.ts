import { TippingError } from '../../sdk/client/errors.js'
import type { TipIntent } from '../../sdk/client/tip.js'
import { pause } from '../../sdk/client/wait.js'
import { untilAnswered } from '../lib/failures.js'
import { balanceOf, networkFee, openingCost, solMint } from '../lib/rpc.js'
import { fromBase64, messageOf } from '../lib/solana.js'
import { detailOf, type Thrown, walletFault } from '../lib/wallet-faults.js'
import type { Command, Event, SolFee } from './machine/events.js'
import { chosenToken } from './machine/form.js'
import type { Form, PhoneLinks, State } from './machine/state.js'
import { payWith, rpcEndpointFor } from './pay-with-wallet.js'
import type { TipService } from './service.js'
import { formFragment } from './start-parameters.js'
import type { Wallets } from './wallets.js'
import { lateSignal, poll, resendUntilDecided, watchNaira } from './watch.js'

/** What commands need; available once the session is known. */
export interface Resources {
  readonly service: TipService
  readonly wallets: Wallets
  /** Undefined on a creator's page, which opens sessions when they are needed. */
  readonly token: string | undefined
  /** The address of another session's checkout; undefined when the service refuses one. */
  readonly renew: () => Promise<string | undefined>
}

export interface Context extends Resources {
  readonly dispatch: (event: Event) => void
  readonly state: () => State
  /** Ends with the step of now. */
  readonly signal: () => AbortSignal
  readonly leaveFor: (address: string) => void
}

/** What the driver does not do by itself. */
type ServiceCommand = Exclude<
  Command,
  { do: 'notify-parent' | 'save' | 'clear-saved' | 'open-window' | 'open-tab' }
>

type Run<Do extends Command['do']> = (
  command: Extract<Command, { do: Do }>,
  context: Context,
) => Promise<Event | undefined>

const recordPausesMs = [1500, 3000, 4500, 6000]
const renewLinksMs = 50_000
const retryLinksMs = 3000

/** The code of an error. Rethrows the error when the session is over, because that ends the whole checkout. */
function codeOf(error: unknown): string {
  if (!(error instanceof TippingError)) return 'network'
  if (error.status === 401) throw error
  return error.code
}

const connect: Run<'connect'> = async ({ attempt, wallet }, { wallets, state }) => {
  wallets.account = undefined
  try {
    const account = await wallets.find(wallet.id)?.connect()
    if (account === undefined) throw Object.assign(new Error('The wallet is gone'), { code: 4100 })
    wallets.account = account
    const rightNetwork = account.chains.includes(state().session?.chain ?? '')
    return { type: 'connected', attempt, address: account.address, rightNetwork }
  } catch (error) {
    const thrown = error as Thrown
    return { type: 'pay-failed', attempt, fault: walletFault(thrown), detail: detailOf(thrown) }
  }
}

/** Creates a payment intent unless there is one, and reads the wallet's balance if there is an RPC endpoint. */
const price: Run<'price'> = async ({ attempt, address, cents, intent: held }, { service, state }) => {
  const { session, form } = state()
  const mint = chosenToken(state())?.mint
  if (session === undefined || mint === undefined) return undefined
  const tip = {
    creatorId: session.creator.id,
    amount: cents / 100,
    inputTokenMint: mint,
    sourceWalletAddress: address,
  }
  const [message, senderName] = [form.message, form.name].map((text) => text.trim())
  const words = { ...(message && { message }), ...(senderName && !form.anonymous && { senderName }) }
  try {
    const { rpcUrl } = session
    const [intent, balance] = await Promise.all([
      held ?? service.tip({ ...tip, ...words }),
      rpcUrl === null ? undefined : balanceOf(rpcUrl, address, mint).catch(() => undefined),
    ])
    const fee = rpcUrl === null ? undefined : await solFee(rpcUrl, address, intent).catch(() => undefined)
    return { type: 'priced', attempt, intent, balance, fee }
  } catch (error) {
    return { type: 'price-failed', attempt, code: codeOf(error) }
  }
}

/** Of a tip in another token: the network's fee, and the rent of the creator's token account when the tip opens it. */
async function solFee(
  url: string,
  address: string,
  { input, output, recipient, transaction }: TipIntent,
): Promise<SolFee | undefined> {
  if (input.mint === solMint) return undefined
  const [has, fee, rent] = await Promise.all([
    balanceOf(url, address, solMint),
    networkFee(url, messageOf(fromBase64(transaction))),
    openingCost(url, recipient, output.mint),
  ])
  return { has, cost: BigInt((fee ?? 0) + rent) }
}

const pay: Run<'pay'> = async ({ attempt, walletId, intent, message }, context) => {
  const { service, wallets, dispatch, state, signal } = context
  const wallet = wallets.find(walletId)
  const { account } = wallets
  const { session } = state()
  if (session === undefined || wallet === undefined || account === undefined)
    return { type: 'pay-failed', attempt, fault: 'disconnected', detail: '' }
  const paid = await payWith(wallet, account, intent, session, () => state().attempt === attempt)
  if (paid === undefined) return undefined
  if (!paid.sent) return { type: 'pay-failed', attempt, fault: paid.fault, detail: paid.detail }
  const { signature, signed } = paid
  const { intentId, recipient, input } = intent
  dispatch({ type: 'sent', payment: { intentId, signature } })
  if (signature === null) return undefined
  const url = rpcEndpointFor(session, intent)
  if (signed !== undefined && url !== null)
    resendUntilDecided(url, intent, signature, signed, dispatch, signal()).catch(() => undefined)
  const record = {
    intentId,
    txSignature: signature,
    creatorWallet: recipient,
    senderWallet: account.address,
    tipAmount: Number(input.amount),
    tokenSymbol: input.symbol,
    ...(message !== '' && { message }),
  }
  // The service finds the payment without this, so giving up loses nothing.
  await untilAnswered(() => service.record(record), {
    pausesMs: recordPausesMs,
    mayRepeat: (error, tries) =>
      error instanceof TippingError && error.temporary && tries < recordPausesMs.length,
  }).catch(() => undefined)
  return undefined
}

const startNaira: Run<'start-naira'> = async ({ attempt, quote, form }, { service, state }) => {
  const { session } = state()
  if (session === undefined) return undefined
  try {
    const tip = await service.nairaTip(session, quote, form)
    return { type: 'naira-started', attempt, tip }
  } catch (error) {
    return { type: 'naira-refused', attempt, code: codeOf(error) }
  }
}

/** Makes new phone links before the old ones expire, until the step ends. */
const refreshPhoneLinks: Run<'refresh-phone-links'> = async ({ cents, mint }, context) => {
  const { form } = context.state()
  const signal = context.signal()
  while (!signal.aborted) {
    const links = await makePhoneLinks(context.service, form, cents, mint).catch((error: unknown) => {
      codeOf(error)
      return undefined
    })
    if (!signal.aborted) context.dispatch({ type: 'phone-links', links })
    await pause(links === undefined ? retryLinksMs : renewLinksMs, signal)
  }
}

/** Makes links that continue on a phone. They carry one-time codes that are valid for a minute, never the session token. */
async function makePhoneLinks(
  service: TipService,
  form: Form,
  cents: number,
  inputTokenMint: string,
): Promise<PhoneLinks> {
  // Wallets accept transaction requests only over https.
  const secure = location.protocol === 'https:'
  const [code, payCode] = await Promise.all([
    service.handOff(),
    secure ? service.handOff({ amount: cents / 100, inputTokenMint }) : undefined,
  ])
  return {
    browser: `${location.origin}${location.pathname}${location.search}#h=${code}${formFragment(form, cents, false)}`,
    request: payCode === undefined ? undefined : `solana:${location.origin}/pay/${payCode}`,
  }
}

const quoteFailed = (): Event => ({ type: 'naira-quote-failed' })

/** The commands that need the service. They turn failures into results, except that the session is over. */
const runs: { readonly [Do in ServiceCommand['do']]: Run<Do> } = {
  connect,
  price,
  pay,
  'start-naira': startNaira,
  'refresh-phone-links': refreshPhoneLinks,
  'quote-naira': ({ cents }, { service }) =>
    service.nairaQuote(cents).then((quote) => ({ type: 'naira-quoted', quote }), quoteFailed),
  'read-naira-rate': ({ cents }, { service }) =>
    service.nairaRate(cents).then((rate) => ({ type: 'naira-rate', rate }), quoteFailed),
  'watch-payment': ({ payment, late }, { service, dispatch, signal }) => {
    const ask = async () =>
      ({ type: 'payment-status', intent: await service.intent(payment.intentId) }) as const
    return poll(ask, dispatch, late === true ? lateSignal(signal()) : signal())
  },
  // They may be paid in another window.
  'watch-session': (_, { service, dispatch, signal }) => {
    const ask = async () => ({ type: 'session-payments', intents: await service.intents() }) as const
    return poll(ask, dispatch, signal())
  },
  'watch-naira': ({ intentId }, { service, dispatch, signal }) =>
    watchNaira(service, intentId, dispatch, signal()),
  async renew(_, { renew, leaveFor }) {
    const address = await renew()
    if (address === undefined) return { type: 'session-over' }
    leaveFor(address)
    return undefined
  },
}

export async function runCommand(command: ServiceCommand, context: Context): Promise<void> {
  const run = runs[command.do] as Run<ServiceCommand['do']>
  const event = await run(command, context)
  if (event) context.dispatch(event)
}
