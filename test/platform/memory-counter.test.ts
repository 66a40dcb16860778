import test from 'ava'
import { networkOf } from '../../src/http/limits/client-address.js'
import { MemoryCounter } from '../../src/platform/rate-limits/memory-counter.js'

test('a rotation of generations never shortens a window', (t) => {
  for (let start = 0; start < 120_000; start += 1_500) {
    const counter = new MemoryCounter(60)
    counter.hit('first', 0)
    counter.hit('a', start)
    t.is(counter.hit('a', start + 59_999).hits, 2, `${start}`)
  }
})

test('many keys stay within the limit, and a key that is hit meanwhile keeps its count', (t) => {
  const counter = new MemoryCounter(60, 1000)
  for (let i = 1; i <= 50_000; i++) {
    counter.hit(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 1)
    if (i % 500 === 0) t.is(counter.hit('busy', 1).hits, i / 500)
  }
  t.true(counter.size <= 2000, `${counter.size}`)
})

for (const [address, network] of [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2'],
  ['2001:db8::5', '2001:db8:0:0'],
  ['2001:db8:1:2:3::', '2001:db8:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '127.0.0.1'],
  ['::', '0:0:0:0'],
  ['1::2:3:4:5:6:7', '1:0:2:3'],
  ['', ''],
] as const)
  test(`${address || 'no address'} counts as ${network || 'itself'}`, (t) => {
    t.is(networkOf(address), network)
  })
