import { randomBytes } from 'node:crypto'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { readAll } from '../../../../src/outgoing/differences.js'
import type { ListedPayment } from '../../../../src/ports/collections.js'
import { createFiatpayCollections } from '../../../../src/providers/fiatpay/collections.js'
import { createFiatpayDisputes } from '../../../../src/providers/fiatpay/disputes.js'
import { createFiatpayPayoutSender } from '../../../../src/providers/fiatpay/payout-sender.js'
import { createFiatpayPayouts } from '../../../../src/providers/fiatpay/payouts.js'
import { createFiatpayRefunds } from '../../../../src/providers/fiatpay/refunds.js'
import { RefusedError } from '../order.js'
import { type Asked, differs, lastExchange, missing, type Questions } from './check.js'

const timeoutMs = 20_000
const dayMs = 86_400_000
const listedDays = 90
/** The least that the provider takes and sends: 100 naira. */
const amountKobo = 10_000n
const returnUrl = 'https://tips.example/paid'
/** RFC 2606 reserves the domain: no mail reaches anybody. */
const email = 'conformance@example.com'
/** The account that test mode knows, at the test bank. */
const account = { bankCode: '001', accountNumber: '0123456789' }

/** Asks in test mode. It opens two charges and sends one transfer of 100 naira of test money. Throws RefusedError for every other key. */
export function askFiatpay(asked: Asked): Questions | string {
  const { FIATPAY_URL: url, FIATPAY_SECRET_KEY: [secretKey] = [] } = asked
  const { PAYOUT_SECRET_KEY: payoutKey = secretKey } = asked
  for (const [setting, key] of Object.entries({
    FIATPAY_SECRET_KEY: secretKey,
    PAYOUT_SECRET_KEY: payoutKey,
  }))
    if (key !== undefined && !key.startsWith('sk_test_'))
      throw new RefusedError(
        `${setting} is not a test key (sk_test_…): this command opens charges and sends transfers, so it takes no other`,
      )
  if (url === undefined || secretKey === undefined || payoutKey === undefined)
    return 'FIATPAY_URL or FIATPAY_SECRET_KEY is not set'
  const access = { url, secretKey, timeoutMs }
  const collections = createFiatpayCollections({ ...access, returnUrl })
  const payouts = createFiatpayPayouts({ ...access, deduplicates: true })
  const sender = createFiatpayPayoutSender({ ...access, secretKey: payoutKey })
  const [charged, opened, unknown, sent] = [newReference(), newReference(), newReference(), newReference()]
  const since = new Date(Date.now() - listedDays * dayMs)
  const until = new Date(Date.now() + dayMs)
  let checkoutUrl = ''
  let recipient: string | undefined
  let transfer: string | undefined
  const countSent = async (): Promise<number> => {
    if (transfer === undefined) missing('no transfer was accepted')
    let count = 0
    for await (const rows of payouts.listTransfers(since, until))
      count += rows.filter(({ reference }) => reference === sent).length
    return count
  }

  return Object.entries({
    async 'wrong key'() {
      const stranger = createFiatpayPayouts({ ...access, secretKey: 'sk_test_nobody', deduplicates: true })
      await refused(stranger.readBalance())
      if (lastExchange().status !== 401) differs(`answers ${lastExchange().status} to a wrong key, not 401`)
      return 'a wrong key is 401'
    },
    async balance() {
      await payouts.readBalance()
      return 'one balance in naira, whole kobo'
    },
    async banks() {
      const banks = await payouts.listBanks()
      const odd = banks.filter(({ code }) => !/^\d{3,6}$/.test(code))
      if (banks.length === 0) differs('no bank with a code that we accept')
      if (odd.length > 0) differs(`codes of another form: ${odd.map(({ code }) => code).join(', ')}`)
      return `${banks.length} banks, codes of 3 to 6 digits`
    },
    async resolve() {
      const name = await payouts.resolveAccountName(account)
      return `an account of bank ${account.bankCode} has a name of ${name.length} characters`
    },
    async charge() {
      const charge = { reference: charged, amountKobo, email }
      const { accountNumber } = await collections.openTransferAccount(
        charge,
        new Date(Date.now() + 1_800_000),
      )
      if (!/^\d{10}$/.test(accountNumber)) differs('the account number to pay into has not ten digits')
      return 'opens an account to pay into'
    },
    async checkout() {
      checkoutUrl = await collections.openCheckout({ reference: opened, amountKobo, email })
      return 'opens a page to pay on'
    },
    async verify() {
      const { status } = await collections.findCharge(opened)
      if (status !== 'unpaid') differs(`a charge that nobody paid is ${status}`)
      return 'a charge that nobody paid is unpaid'
    },
    async 'verify unknown'() {
      const { status } = await collections.findCharge(unknown)
      if (lastExchange().status !== 404 || status !== 'unpaid')
        differs(`answers ${lastExchange().status} for an unknown reference, not 404`)
      return 'an unknown reference is 404'
    },
    async 'reference used twice'() {
      const kind = await refused(collections.openCheckout({ reference: opened, amountKobo, email }))
      if (kind !== 'rejected') differs(`a used reference is ${kind}, not refused`)
      return 'a used reference is refused'
    },
    async 'list by reference'() {
      await collections.listPayments(opened)
      assertRowsOf(opened)
      return 'the filter by reference shows no other charge'
    },
    async payments() {
      const paid =
        (await first(collections.listAllPayments(since, until))) ??
        missing(
          `nobody has paid in this account: pay at ${checkoutUrl || 'a checkout'} with a test card, run it again`,
        )
      return comparePayment(paid, collections)
    },
    async recipient() {
      const details = { ...account, accountName: 'Conformance Test' }
      recipient = await sender.createRecipient(details)
      if ((await sender.createRecipient(details)) !== recipient) differs('one account has two recipients')
      return 'one account has one recipient'
    },
    async transfer() {
      const payout = {
        reference: sent,
        amountKobo,
        recipient: recipient ?? missing('no recipient was made'),
        narration: 'Conformance test',
      }
      transfer = await sender.send(payout).catch((error: Error) => {
        if (!error.message.includes('insufficient_balance')) throw error
        return missing('the test balance is empty: fill it on the provider’s pages')
      })
      return 'a transfer of test money is accepted'
    },
    async 'transfer verify'() {
      const id = transfer ?? missing('no transfer was accepted')
      const found = await payouts.findTransfer(sent)
      if (found === undefined) return differs('an accepted transfer cannot be found')
      if (found.id !== id || found.amountKobo !== amountKobo || found.currency !== 'NGN')
        differs('the transfer found is not the one that was sent')
      return `shows the transfer as ${found.state}`
    },
    async 'transfer list'() {
      const count = await countSent()
      if (count !== 1) differs(`lists the transfer ${count} times`)
      return 'lists the transfer once'
    },
    async 'transfer used twice'() {
      if (transfer === undefined) missing('no transfer was accepted')
      const again = { reference: sent, amountKobo, recipient: recipient ?? '', narration: 'Conformance test' }
      await refused(sender.send(again))
      const code = (lastExchange().body as { code?: unknown } | undefined)?.code
      if (lastExchange().status < 400 || lastExchange().status > 499)
        differs(`answers ${lastExchange().status} to a used reference: set FIATPAY_DEDUPLICATES=false`)
      if ((await countSent()) !== 1) differs(`sends a used reference again: set FIATPAY_DEDUPLICATES=false`)
      return `a used reference is refused (${String(code)})`
    },
    async 'transfer unknown'() {
      if ((await payouts.findTransfer(unknown)) !== undefined) differs('finds a transfer that nobody sent')
      return 'an unknown reference is 404'
    },
    async refunds() {
      const refunds = createFiatpayRefunds(access)
      if ((await first(refunds.listAll(since, until))) === undefined)
        missing('the list is empty: refund a payment on the provider’s pages')
      return 'lists refunds'
    },
    async disputes() {
      const disputes = createFiatpayDisputes(access)
      const dispute =
        (await first(disputes.list(since, until))) ?? missing('the list is empty: the account has no dispute')
      if (dispute.state === 'unclear') differs('a dispute has a state that we do not know')
      const found = await disputes.find(dispute.id)
      if (found?.reference !== dispute.reference) differs('the list and the dispute itself disagree')
      return `lists disputes; the newest is ${dispute.state}`
    },
    async webhooks() {
      return missing('they come to a public address: pay a charge of a test installation and read its log')
    },
  })
}

const newReference = (): string => `conformance-${randomBytes(12).toString('hex')}`

/** How a request was refused. Throws when it was not. */
async function refused(request: Promise<unknown>): Promise<ProviderError['kind']> {
  try {
    await request
  } catch (error) {
    if (error instanceof ProviderError) return error.kind
    throw error
  }
  return differs('takes what it should refuse')
}

async function first<Row>(pages: AsyncIterable<readonly Row[]>): Promise<Row | undefined> {
  // Reads to the end, where an unreadable row throws.
  return (await readAll(pages))[0]
}

/** The client leaves rows of other charges out, so it does not show whether the filter works. */
function assertRowsOf(reference: string): void {
  const { data = [] } = lastExchange().body as { data?: { reference?: unknown }[] }
  const others = data.filter((row) => row.reference !== reference).length
  if (others > 0) differs(`the filter by reference shows ${others} rows of other charges`)
}

async function comparePayment(
  { reference, transaction, kobo }: ListedPayment,
  collections: ReturnType<typeof createFiatpayCollections>,
): Promise<string> {
  const charge = await collections.findCharge(reference)
  if (!('newest' in charge)) return differs(`a listed payment is ${charge.status} when it is verified`)
  const listed = await collections.listPayments(reference)
  assertRowsOf(reference)
  for (const seen of [charge.newest, listed.at(-1)])
    if (seen?.kobo !== kobo || (listed.length === 1 && seen.transaction !== transaction))
      differs('the list of all payments, the list by reference and the verification disagree')
  return 'both lists and the verification show the same payment'
}
