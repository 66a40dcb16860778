import { type PlainPage, plainPage } from '../http/pages/plain-page.js'
import { groupedText, nairaSignText, unitsOfText } from '../kernel/money.js'
import { lagosText } from '../kernel/timestamp.js'
import type { Amount, Payment, Stage } from './payment.js'

interface Options {
  /** Where a person answers. */
  readonly contact: string | undefined
  /** So long an unpaid naira tip is still looked for. */
  readonly watchDays: number
  /** Of a payment that has a signed receipt. */
  readonly token: string | undefined
}

/** `title`: what is the case. `lead`: what it means. `more`: what to do. */
interface Words {
  readonly title: string
  readonly lead: string
  readonly more?: readonly string[]
}

/** What may still change by itself. */
const changes: Readonly<Partial<Record<Stage, number>>> = { waiting: 10, seen: 5, late: 30 }

function refreshSeconds({ stage, isFinal }: Payment): number | undefined {
  // A paid tip gets its receipt when it is final.
  return stage === 'paid' && !isFinal ? 5 : changes[stage]
}

/** `₦15,200.00`, `0.5 SOL`. */
function amountText({ text, currency }: Amount): string {
  if (currency === 'NGN') return nairaSignText(unitsOfText(text, 2) ?? 0n)
  return `${groupedText(text)} ${currency}`
}

const once = 'Do not pay a second time.'

/** What the words name. Amounts as people read them. */
interface Said {
  readonly payment: Payment
  readonly amount: string
  readonly name: string
  readonly inCurrency: (text: string) => string
  readonly watchDays: number
}

const goesBack = ({ payment, inCurrency }: Said): string =>
  `${inCurrency(payment.back)} ${payment.isUnderWay ? 'are on their way back' : 'went back'} to the card or account that paid. Banks need some days to show it.`

const naira: Readonly<Record<Stage, (said: Said) => Words>> = {
  waiting: ({ amount, payment }) => ({
    title: `Waiting for ${amount}`,
    lead: `Nothing has arrived yet. Pay until ${lagosText(payment.expiresAt)}.`,
    more: [`Paid already? It can take a few minutes. ${once}`],
  }),
  seen: () => ({
    title: 'Your payment was sent',
    lead: 'The network is deciding about it. That usually takes a few seconds.',
    more: [once],
  }),
  late: ({ amount, watchDays }) => ({
    title: 'The time to pay is over',
    lead: `${amount} have not arrived.`,
    more: [
      `Paid already? Then wait: we look for your payment for ${watchDays} days, and it counts when it arrives. ${once}`,
      'Not paid? Do not use this account number any more. Go back to the page and start again.',
    ],
  }),
  underpaid: ({ amount, payment, inCurrency }) => ({
    title: `Only ${inCurrency(payment.arrived)} arrived`,
    lead: `${amount} were asked for. Your money is not lost: the creator sees what arrived, and can take it as it is or give it back to you.`,
    more: [
      'You can also write to the address below with the number of this payment, and say which you want.',
    ],
  }),
  failed: () => ({
    title: 'This payment could not be completed',
    lead: 'No money has arrived.',
    more: [
      'If your bank shows a debit, ask your bank first: it usually comes back by itself. Then write to the address below with the number of this payment.',
    ],
  }),
  paid: ({ name, amount, payment: { surplus }, inCurrency }) => ({
    title: 'Paid. Thank you!',
    lead: `${name} has your tip of ${amount}.`,
    ...(surplus !== undefined && {
      more: [
        `You paid ${inCurrency(surplus)} more than was asked for. It waits for you: write to the address below to have it back, or to give it to the creator too.`,
      ],
    }),
  }),
  disputed: ({ amount }) => ({
    title: 'Your bank is asking about this payment',
    lead: `The tip of ${amount} was paid, and somebody told the bank that they want the money back. The bank decides, usually within some days.`,
    more: ['If you recognise the payment after all, tell your bank so.'],
  }),
  'partly-refunded': (said) => ({ title: 'A part of your tip was given back', lead: goesBack(said) }),
  refunded: (said) => ({
    title: `Your money ${said.payment.isUnderWay ? 'is on its way back' : 'went back'}`,
    lead: goesBack(said),
    more: ['If you do not see it after ten working days, write to the address below.'],
  }),
}

const crypto: typeof naira = {
  ...naira,
  waiting: ({ amount }) => ({
    title: `Waiting for ${amount}`,
    lead: 'Nothing was paid yet: approve it in your wallet.',
    more: ['The price holds for about a minute. After that, go back to the page and start again.'],
  }),
  late: () => ({
    title: 'This was not paid in time',
    lead: 'No payment has been seen, and nothing was taken.',
    more: [
      'If your wallet shows it as sent, wait a few minutes: we find it on the chain. Otherwise go back to the page and start again.',
    ],
  }),
  underpaid: ({ name, payment: { received } }) => ({
    title: 'Less arrived than this tip asked for',
    lead: `${name} received ${received === undefined ? 'it' : amountText(received)} and keeps it, as a smaller tip.`,
    more: [`Do not pay the rest here. For anything else, ask ${name}.`],
  }),
  failed: () => ({
    title: 'This payment did not go through',
    lead: 'It did not reach the creator as it was asked for.',
    more: ['Your wallet shows what became of it. To tip, go back to the page and start again.'],
  }),
}

function wordsOf(payment: Payment, { watchDays }: Options): Words {
  const { currency } = payment.amount
  return (currency === 'NGN' ? naira : crypto)[payment.stage]({
    payment,
    amount: amountText(payment.amount),
    name: payment.creator.creatorName ?? 'The creator',
    inCurrency: (text) => amountText({ text, currency }),
    watchDays,
  })
}

function factsOf(payment: Payment): [string, string][] {
  const { stage, amount, received, paidAt, message, account, chain } = payment
  const isPaid = paidAt !== undefined
  const facts: [name: string, value: string | null | undefined | false][] = [
    ['To', payment.creator.creatorName],
    [isPaid ? 'Paid' : 'Asked for', amountText(amount)],
    ['The creator got', received && `${amountText(received)}, after our fee`],
    ['Given back', stage === 'partly-refunded' && amountText({ ...amount, text: payment.back })],
    ['When', paidAt && lagosText(paidAt)],
    ['Bank', account?.bankName],
    ['Account number', account?.accountNumber],
    ['Account name', account?.accountName],
    ['Your message', isPaid && message],
    ['Reference', payment.reference],
    ['Number', payment.intentId],
    ['Transaction', chain?.signature],
  ]
  return facts.flatMap(([name, value]) => (value ? [[name, value]] : []))
}

/** The page of a payment. */
export function statusPage(payment: Payment, options: Options): PlainPage {
  const { stage, thanks, checkoutUrl } = payment
  const { contact, token } = options
  return {
    ...wordsOf(payment, options),
    quote: stage === 'paid' ? (thanks ?? undefined) : undefined,
    facts: factsOf(payment),
    links: [
      ...(checkoutUrl === undefined ? [] : [{ href: checkoutUrl, text: 'Pay now' }]),
      ...(token === undefined
        ? []
        : [
            { href: `/verify#${token}`, text: 'Check the receipt' },
            { href: `/t/${token}.json`, text: 'Signed receipt (JSON)' },
          ]),
    ],
    note: `${contact === undefined ? 'Questions? Reply to the mail about this payment.' : `Questions? Write to ${contact}.`} Whoever has the address of this page can see it: keep it to yourself.`,
    unlisted: { refreshSeconds: refreshSeconds(payment) },
  }
}

/** For an address that names no payment. */
export function missingPage(contact: string | undefined): string {
  return plainPage({
    title: 'There is no payment at this address',
    lead: 'A part of the address may be missing. Copy it whole from your receipt or from the page where you paid.',
    note: contact === undefined ? undefined : `Questions? Write to ${contact}.`,
    unlisted: { refreshSeconds: undefined },
  })
}
