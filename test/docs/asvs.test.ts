import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'

const document = readFileSync('docs/security.md', 'utf8')
/** How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has. They are its first ones. */
const sections = {
  '6.1': 3,
  '6.2': 12,
  '6.3': 4,
  '6.4': 4,
  '6.5': 5,
  '6.6': 3,
  '6.8': 4,
  '7.1': 3,
  '7.2': 4,
  '7.3': 2,
  '7.4': 5,
  '7.5': 2,
  '7.6': 2,
  '3.3': 4,
  '3.5': 5,
}

interface Row {
  readonly number: string
  readonly cells: readonly string[]
}

const rows: readonly Row[] = document
  .split('\n')
  .map((line) => /^\| ([0-9.]+) \| (.*) \|$/.exec(line))
  .flatMap((found) =>
    found === null ? [] : [{ number: found[1] ?? '', cells: (found[2] ?? '').split(' | ') }],
  )

test('every requirement of level 1 and 2 has one row, and no cell is empty', (t) => {
  const numbers = rows.map(({ number }) => number)
  t.is(new Set(numbers).size, numbers.length)
  for (const [section, count] of Object.entries(sections))
    for (let nth = 1; nth <= count; nth++) t.true(numbers.includes(`${section}.${nth}`), `${section}.${nth}`)
  for (const { number, cells } of rows) {
    t.is(cells.length, 3, number)
    t.true(
      cells.every((cell) => cell.trim() !== ''),
      number,
    )
  }
})

test('every requirement names a test that exists, or says why it does not apply', (t) => {
  for (const { number, cells } of rows) {
    const [, how = '', shownBy = ''] = cells
    if (shownBy === '—') {
      t.regex(how, /^Does not apply: /, number)
      continue
    }
    for (const one of shownBy.split('; `test/').map((text) => text.replace(/^`?test\//, ''))) {
      const [, path = '', title = ''] = /^([\w./-]+)` "(.+)"$/.exec(one) ?? []
      const code = existsSync(`test/${path}`) ? readFileSync(`test/${path}`, 'utf8') : ''
      const found = code.split(`'${title}`).length + code.split(`"${title}`).length - 2
      t.is(found, 1, `${number}: titles of test/${path} that begin with "${title}"`)
    }
  }
})
