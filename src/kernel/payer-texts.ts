import { type Language, locales } from './languages.js'
import { displayText } from './money.js'

/** Exact decimal text as people write it: `15,840.5`, in French `15 840,5`. */
export function decimalText(decimal: string, language: Language): string {
  return format(decimal, language, { maximumFractionDigits: 20 })
}

/** Kobo as payers read them: `₦15,840.00`, in French `15 840,00 ₦`. */
export function nairaSignText(kobo: bigint, language: Language): string {
  const style = { style: 'currency', currency: 'NGN', currencyDisplay: 'narrowSymbol' } as const
  return format(displayText(kobo, 2), language, style)
}

/** From the text, because a number holds too few digits of some tokens. */
function format(decimal: string, language: Language, options: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locales[language], options).format(decimal as `${number}`)
}

const formOf = (locale: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'Africa/Lagos',
  })
const english = { form: formOf('en-GB'), zone: 'Lagos time' }
const times: Readonly<Record<Language, typeof english>> = {
  en: english,
  pcm: english,
  fr: { form: formOf('fr-FR'), zone: 'heure de Lagos' },
}

/** A time as people in Nigeria read it: `26 November 2026 at 14:05, Lagos time`. */
export function lagosText(at: Date, language: Language = 'en'): string {
  const { form, zone } = times[language]
  return `${form.format(at)}, ${zone}`
}
