import { type Language, locales } from '../../kernel/languages.js'
import { useMoneyLocale } from '../lib/money.js'
import { type CheckoutWords, words as english } from './checkout.en.js'
import { useCommonWords } from './common.js'

/** The texts in the page's language. */
export let words: CheckoutWords = english

/** Of `words`. */
export let shownLanguage: Language = 'en'

interface Texts {
  readonly words: CheckoutWords
  readonly common: Parameters<typeof useCommonWords>[0]
}

/** The other languages are loaded only where they are wanted. */
const others: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Texts>>> = {
  fr: () => import('./checkout.fr.js'),
  pcm: () => import('./checkout.pcm.js'),
}

/** Sets the language of the texts, before the first of them is shown. */
export async function useLanguage(language: Language): Promise<void> {
  if (language === 'en') return
  const texts = await others[language]()
  words = texts.words
  shownLanguage = language
  useCommonWords(texts.common)
  useMoneyLocale(locales[language])
}
