import test from 'ava'
import { filterOf } from '../../src/overlay/filter.js'

const found: readonly (readonly [entry: string, text: string])[] = [
  ['scam', 'This is a SCAM!'],
  ['scam', 'sc\u200bam'],
  ['scam', 'ｓｃａｍ'],
  ['scam', 'śçàm'],
  ['scam', '$c4m'],
  ['scam', 'a $c4m!!'],
  ['idiot', '!d!ot'],
  ['Scam', 'no,scam.no'],
  ['bad words', 'such  bad\u00a0words here'],
  ['scam*', 'scammer'],
]
const missed: readonly (readonly [entry: string, text: string])[] = [
  ['ass', 'a class of their own'],
  ['scam', 'scammer'],
  ['bad words', 'bad, but other words'],
  ['*', 'anything'],
  ['!!', '!!'],
  ['scam', ''],
]

test('the filter finds whole words and phrases in any case and disguise, and nothing inside of other words', (t) => {
  for (const [entry, text] of found) t.true(filterOf([entry])(text), `${entry} in ${text}`)
  for (const [entry, text] of missed) t.false(filterOf([entry])(text), `${entry} in ${text}`)
  t.false(filterOf([])('anything'))
})
