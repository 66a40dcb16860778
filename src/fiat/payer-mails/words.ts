import type { Language } from '../../kernel/languages.js'
import { words as english, type PayerMailWords } from './words.en.js'
import { words as french } from './words.fr.js'
import { words as pidgin } from './words.pcm.js'

export const payerMailWords: Readonly<Record<Language, PayerMailWords>> = {
  en: english,
  fr: french,
  pcm: pidgin,
}
