import type { PlainPage } from '../http/pages/plain-page.js'
import type { Language } from '../kernel/languages.js'
import { unitsOfText } from '../kernel/money.js'
import { decimalText, lagosText, nairaSignText } from '../kernel/payer-texts.js'
import { type Amount, isPayersToDecide, type Payment, type Stage, shortDecisions } from './payment.js'
import { words as english, type Said, type StatusWords } from './words.en.js'
import { words as french } from './words.fr.js'
import { words as pidgin } from './words.pcm.js'

const catalogues: Readonly<Record<Language, StatusWords>> = { en: english, fr: french, pcm: pidgin }

interface Options {
  readonly language: Language
  /** Where a person answers. */
  readonly contact: string | undefined
  /** So long an unpaid naira tip is still looked for. */
  readonly watchDays: number
  /** Of a payment that has a signed receipt. */
  readonly signedToken: string | undefined
  readonly token: string
}

/** What may still change by itself. */
const changes: Readonly<Partial<Record<Stage, number>>> = { waiting: 10, seen: 5, late: 30 }

function refreshSeconds({ stage, isFinal }: Payment): number | undefined {
  // A paid tip gets its receipt when it is final.
  return stage === 'paid' && !isFinal ? 5 : changes[stage]
}

/** `₦15,200.00`, `0.5 SOL`. */
function amountText({ text, currency }: Amount, language: Language): string {
  if (currency === 'NGN') return nairaSignText(unitsOfText(text, 2) ?? 0n, language)
  return `${decimalText(text, language)} ${currency}`
}

/** The stage, where the words for it differ also by what is under way or beyond. */
function caseOf({ stage, isUnderWay, surplus }: Payment): keyof StatusWords['naira'] {
  if (stage === 'paid' && surplus !== undefined) return 'overpaid'
  if (stage === 'refunded' && isUnderWay) return 'refunding'
  if (stage === 'partly-refunded' && isUnderWay) return 'partly-refunding'
  return stage
}

/** Texts as the catalogues have them. */
interface Told {
  readonly title: Text
  readonly lead: Text
  readonly more?: readonly Text[]
}
type Text = string | ((said: Said) => string)

function wordsOf(
  payment: Payment,
  { watchDays, language }: Options,
): Pick<PlainPage, 'title' | 'lead' | 'more'> {
  const words = catalogues[language]
  const { amount, creator, received, surplus = '0' } = payment
  const inCurrency = (text: string) => amountText({ ...amount, text }, language)
  const said: Said = {
    amount: amountText(amount, language),
    name: creator.creatorName ?? words.theCreator,
    arrived: inCurrency(payment.arrived),
    surplus: inCurrency(surplus),
    received: received && amountText(received, language),
    back: inCurrency(payment.back),
    until: lagosText(payment.expiresAt, language),
    watchDays,
  }
  const say = (text: Text): string => (typeof text === 'string' ? text : text(said))
  const told: Record<keyof StatusWords['naira'], Told> =
    amount.currency === 'NGN' ? words.naira : { ...words.naira, ...words.crypto }
  const { title, lead, more = [] } = told[caseOf(payment)]
  return { title: say(title), lead: say(lead), more: more.map(say) }
}

function factsOf(payment: Payment, language: Language): [string, string][] {
  const { stage, amount, received, paidAt, message, account, chain } = payment
  const words = catalogues[language].facts
  const isPaid = paidAt !== undefined
  const facts: [name: string, value: string | null | undefined | false][] = [
    [words.to, payment.creator.creatorName],
    [isPaid ? words.paid : words.askedFor, amountText(amount, language)],
    [words.received, received && words.afterFee(amountText(received, language))],
    [words.givenBack, stage === 'partly-refunded' && amountText({ ...amount, text: payment.back }, language)],
    [words.when, paidAt && lagosText(paidAt, language)],
    [words.bank, account?.bankName],
    [words.accountNumber, account?.accountNumber],
    [words.accountName, account?.accountName],
    [words.message, isPaid && message],
    [words.reference, payment.reference],
    [words.number, payment.intentId],
    [words.transaction, chain?.signature],
  ]
  return facts.flatMap(([name, value]) => (value ? [[name, value]] : []))
}

/** The page of a payment. */
export function statusPage(payment: Payment, options: Options): PlainPage {
  const { stage, thanks, checkoutUrl } = payment
  const { contact, token, signedToken, language } = options
  const words = catalogues[language]
  return {
    language,
    ...wordsOf(payment, options),
    quote: stage === 'paid' ? (thanks ?? undefined) : undefined,
    facts: factsOf(payment, language),
    links: [
      ...(checkoutUrl === undefined ? [] : [{ href: checkoutUrl, text: words.payNow }]),
      ...(signedToken === undefined
        ? []
        : [
            { href: `/verify#${signedToken}`, text: words.checkReceipt },
            { href: `/t/${signedToken}.json`, text: words.signedReceipt },
          ]),
    ],
    buttons: isPayersToDecide(payment)
      ? shortDecisions.map((decision) => ({ text: words.decide[decision], to: `/t/${token}/${decision}` }))
      : [],
    note: `${contact === undefined ? words.reply : words.writeTo(contact)} ${words.keepIt}`,
    unlisted: { refreshSeconds: refreshSeconds(payment) },
  }
}

/** The payer did not decide: somebody was faster, or it is not possible now. */
export function undecidedPage({ contact, language }: Pick<Options, 'contact' | 'language'>): PlainPage {
  const words = catalogues[language]
  return { ...missingPage({ contact, language }), ...words.undecided }
}

/** For an address that names no payment. */
export function missingPage({ contact, language }: Pick<Options, 'contact' | 'language'>): PlainPage {
  const words = catalogues[language]
  return {
    language,
    ...words.missing,
    note: contact === undefined ? undefined : words.writeTo(contact),
    unlisted: { refreshSeconds: undefined },
  }
}
