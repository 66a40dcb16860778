import test from 'ava'
import fc from 'fast-check'
import {
  baseUnits,
  basisPoints,
  centsWorth,
  displayNumber,
  displayText,
  divideHalfUp,
  divideUp,
  groupedText,
  least,
  microWorth,
  most,
  nairaText,
  percentBps,
  picoUsd,
  sumOf,
  unitsFor,
  unitsOfText,
  usdcText,
} from '../../src/kernel/money.js'
import { seededRuns } from '../helpers/random.js'

const decimals = fc.integer({ min: 0, max: 12 })
const anyUnits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** From a billionth of a cent to a billion dollars. */
const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 21n })
const finite = fc.double({ noNaN: true, noDefaultInfinity: true })

/** An exact fraction. */
interface Exact {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The shortest decimal text of a number as a fraction, read from its exponential form. */
function exactly(value: number): Exact {
  const match = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential())
  if (match === null) throw new Error(`not a positive number: ${value}`)
  const [, first = '', rest = '', exponent = ''] = match
  const power = Number(exponent) - rest.length
  const digits = BigInt(first + rest)
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) }
}

/** Half up by definition: the largest whole number not above value + 1/2. */
function roundedHalfUp({ numerator, denominator }: Exact): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}

test('a number is read as its shortest decimal text, not as its binary value', (t) => {
  const table: [value: number, decimals: number, units: bigint][] = [
    [19.99, 2, 1999n],
    [19.99, 6, 19_990_000n],
    [1.005, 2, 101n],
    [0.1 + 0.2, 6, 300_000n],
    [0.1 + 0.2, 17, 30_000_000_000_000_004n],
    [4.35, 2, 435n],
    [1.5, 9, 1_500_000_000n],
    [1e-7, 9, 100n],
    [1e21, 0, 10n ** 21n],
    [1.2345e21, 2, 12345n * 10n ** 19n],
    [1e308, 9, 10n ** 317n],
    [2 ** 53, 0, 2n ** 53n],
    [Number.MAX_SAFE_INTEGER, 6, BigInt(Number.MAX_SAFE_INTEGER) * 1_000_000n],
    [Number.MAX_VALUE, 0, 17976931348623157n * 10n ** 292n],
  ]
  for (const [value, places, units] of table)
    t.is(baseUnits(value, places), units, `${value} with ${places} decimals`)
})

test('baseUnits refuses everything except a positive number of at least one base unit', (t) => {
  const refused = [
    0,
    -0,
    -1,
    -0.01,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    5e-324,
    4.9e-7,
    '1',
    '',
    null,
    undefined,
    true,
    1n,
    [1],
    { valueOf: () => 1 },
    new Number(1),
  ]
  for (const value of refused) t.is(baseUnits(value, 6), undefined, String(value))
})

test('base units agree with exact fractions for every finite number', (t) => {
  fc.assert(
    fc.property(finite, decimals, (value, places) => {
      const { numerator, denominator } = value > 0 ? exactly(value) : { numerator: 0n, denominator: 1n }
      const units = roundedHalfUp({ numerator: numerator * 10n ** BigInt(places), denominator })
      t.is(baseUnits(value, places), units > 0n ? units : undefined)
    }),
    seededRuns(t, 5000),
  )
})

test('the decimal text of an amount is exact', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), decimals, (units, places) => {
      const text = displayText(units, places)
      t.regex(text, /^(0|-?(0|[1-9]\d*)(\.\d*[1-9])?)$/)
      const [whole = '', fraction = ''] = text.split('.')
      t.is(BigInt(whole + fraction.padEnd(places, '0')), units)
    }),
    seededRuns(t),
  )
})

test('nothing has no sign', (t) => {
  t.is(displayText(0n, 2), '0')
  t.is(displayText(-1n, 2), '-0.01')
})

test('an amount of up to 15 digits survives the conversion to a JSON number and back', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), decimals, (units, places) => {
      t.is(baseUnits(displayNumber(units, places), places), units)
    }),
    seededRuns(t, 2000),
  )
})

test('a dollar amount survives the conversion to token units and back, within rounding', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 12n }), decimals, anyPrice, (usdMicro, places, price) => {
      const back = microWorth(unitsFor(usdMicro, places, price), places, price)
      const distance = back > usdMicro ? back - usdMicro : usdMicro - back
      // Rounded twice: to half a unit of the token, then to half a micro-dollar.
      const unit = 10n ** BigInt(places + 12 - 6)
      t.true(2n * distance * unit <= price + unit, `${usdMicro} became ${back}`)
    }),
    seededRuns(t),
  )
})

test('the worth in cents and in micro-dollars is the exact worth, rounded half up', (t) => {
  fc.assert(
    fc.property(anyUnits, decimals, anyPrice, (units, places, price) => {
      const worth = { numerator: units * price, denominator: 10n ** BigInt(places + 12) }
      t.is(centsWorth(units, places, price), roundedHalfUp({ ...worth, numerator: worth.numerator * 100n }))
      t.is(
        microWorth(units, places, price),
        roundedHalfUp({ ...worth, numerator: worth.numerator * 10n ** 6n }),
      )
    }),
    seededRuns(t),
  )
})

test('a fee never exceeds its rate, and is less than one base unit below it', (t) => {
  fc.assert(
    fc.property(anyUnits, fc.integer({ min: 0, max: 5000 }), (gross, bps) => {
      const fee = basisPoints(gross, bps)
      t.true(fee >= 0n && fee <= gross)
      t.true(fee * 10_000n <= gross * BigInt(bps), 'above the rate')
      t.true((fee + 1n) * 10_000n > gross * BigInt(bps), 'one unit too little')
    }),
    seededRuns(t),
  )
})

test('picoUsd refuses a price that rounds to zero or is not a number', (t) => {
  for (const usd of [0, -1, 4e-13, Number.NaN, Number.POSITIVE_INFINITY, '150', null, undefined])
    t.is(picoUsd(usd), undefined, String(usd))
  t.is(picoUsd(5e-13), 1n)
})

test('decimal text is read exactly, and refused with more decimals or in another form', (t) => {
  t.is(unitsOfText('1500.25', 6), 1_500_250_000n)
  t.is(unitsOfText('0.000001', 6), 1n)
  t.is(unitsOfText('1.50', 1), 15n, 'zeros at the end are no decimals')
  t.is(unitsOfText('7', 0), 7n)
  for (const text of ['0.0000001', '', '.5', '5.', '-1', '+1', '1e3', ' 1', '1,000', '0x10'])
    t.is(unitsOfText(text, 6), undefined, text)
})

test('people read amounts with a comma between thousands', (t) => {
  for (const text of ['0', '999', '1,000', '15,840.5', '100,000', '1,234,567.000001'])
    t.is(groupedText(text.replaceAll(',', '')), text)
  t.is(nairaText(1_584_000n), 'NGN 15,840.00')
  t.is(nairaText(-150_050n), 'NGN -1,500.50')
  t.is(nairaText(5n), 'NGN 0.05')
  t.is(usdcText(10_500_000n), '10.5 USDC')
  t.is(usdcText(1_234_567_000_001n), '1,234,567.000001 USDC')
})

test('a percentage becomes whole basis points', (t) => {
  t.is(percentBps(1.5), 150n)
  t.is(percentBps(0.29), 29n)
  t.is(percentBps(100), 10_000n)
})

test('divisions round up, or half up', (t) => {
  for (const [value, by, up, halfUp] of [
    [0n, 3n, 0n, 0n],
    [1n, 3n, 1n, 0n],
    [2n, 3n, 1n, 1n],
    [3n, 3n, 1n, 1n],
    [4n, 3n, 2n, 1n],
    [2n, 4n, 1n, 1n],
    [5n, 1n, 5n, 5n],
  ] as const) {
    t.is(divideUp(value, by), up, `${value} / ${by}`)
    t.is(divideHalfUp(value, by), halfUp, `${value} / ${by}`)
  }
})

test('amounts are added up, and the least and the most are found', (t) => {
  const size = ({ units }: { readonly units: bigint }) => units
  t.is(sumOf([], size), 0n)
  t.is(sumOf([{ units: 5n }, { units: -7n }, { units: 1n }], size), -1n)
  t.is(least(1n, 2n), 1n)
  t.is(least(2n, 1n), 1n)
  t.is(most(1n, 2n), 2n)
  t.is(most(2n, 1n), 2n)
})
