import test from 'ava'
import { payerMailWords } from '../../src/fiat/payer-mails/words.js'
import { languages } from '../../src/kernel/languages.js'
import { type CheckoutWords, words as english } from '../../src/pages/i18n/checkout.en.js'
import { words as french } from '../../src/pages/i18n/checkout.fr.js'
import { words as pidgin } from '../../src/pages/i18n/checkout.pcm.js'
import { pageWords } from '../../src/public-page/words.js'
import { words as statusEnglish } from '../../src/receipts/words.en.js'
import { words as statusFrench } from '../../src/receipts/words.fr.js'
import { words as statusPidgin } from '../../src/receipts/words.pcm.js'

type Text = string | ((...values: unknown[]) => string) | { readonly [name: string]: Text }

/** A value that can be found again in a text: `<0>`, or `<name>` where the text takes a property of it. */
const traced = (n: number) =>
  new Proxy({}, { get: (_, name) => (name === Symbol.toPrimitive ? () => `<${n}>` : `<${String(name)}>`) })

/** Every text by its path. A function is called with values that can be found again. */
function textsOf(words: object, path = ''): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, text] of Object.entries(words) as [string, Text][]) {
    const at = `${path}${name}`
    if (typeof text === 'string') texts.set(at, text)
    else if (typeof text === 'function')
      texts.set(at, text(...Array.from({ length: text.length }, (_, n) => traced(n))))
    else for (const [below, one] of textsOf(text, `${at}.`)) texts.set(below, one)
  }
  return texts
}

/** They are the same in every language: names, figures, and words that Pidgin shares with English. */
const shared: Readonly<Record<'fr' | 'pcm', RegExp>> = {
  fr: /^(currencies\.USD|messageCount|feeValue|nairaFee|message|facts\.transaction)$/,
  pcm: /^(currencies\.NGN|messageCount|feeValue|nairaFee|naira|crypto|payWith|payWithToken|getPhantom|getSolflare|link|fee|details|reference|referenceTerm|amount|message|time|tryAgain|changeToken|startAgain|wayTransfer|wayCheckout|sendAmount|bank|accountNumber|accountName|payNaira|changeAmount|showWindow|send|chooseWallet|usePhone|newPrice|openPayment|networkFeePart|links|theCreator|facts\.(when|bank|account.*|message|reference|number|transaction)|payNow|checkReceipt|receipt\.(message|reference))$/,
}

for (const [language, words, statusWords] of [
  ['fr', french, statusFrench],
  ['pcm', pidgin, statusPidgin],
] as const) {
  test(`${language}: every text is translated, and has each value that the English one has`, (t) => {
    const catalogues: [object, object][] = [
      [english, words],
      [pageWords.en, pageWords[language]],
      [statusEnglish, statusWords],
      [payerMailWords.en, payerMailWords[language]],
    ]
    const same: string[] = []
    for (const [from, to] of catalogues) {
      const translated = textsOf(to)
      for (const [name, text] of textsOf(from)) {
        const other = translated.get(name) ?? ''
        t.not(other.trim(), '', name)
        if (other === text && !shared[language].test(name)) same.push(name)
        t.deepEqual([...valuesIn(other)].sort(), [...valuesIn(text)].sort(), name)
        t.notRegex(other, /fail|échou/i, name)
      }
    }
    t.deepEqual(same, [], 'still English')
  })
}

const valuesIn = (text: string): Set<string> => new Set(text.match(/<\w+>/g) ?? [])

test('plurals are those of the language', (t) => {
  const count = (words: CheckoutWords): string[] => [1, 2].map((n) => words.walletsFound(n))
  t.deepEqual(count(french), ['1 portefeuille trouvé', '2 portefeuilles trouvés'])
  t.is(languages.length, 3)
})
