/**
 * RFC 3339, 5.6: `T` and `Z` in either case or a blank between date and time, any number of decimals, a leap second. Also
 * without seconds or offset (UTC), and with the blank that a `+` becomes in a query.
 */
const form = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:[Zz]|([+\- ])(\d\d):(\d\d))?$/
const minuteMs = 60_000

/** The moment in epoch milliseconds, with fractions. Undefined for another form and for a date that does not exist. */
export function parseTimestamp(text: string): number | undefined {
  const [, year, month, day, hour, minute, second = '00', fraction = '', sign, offsetHour, offsetMinute] =
    form.exec(text) ?? []
  if (year === undefined) return undefined
  const leap = second === '60'
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${leap ? '59' : second}.000Z`
  const date = new Date(wall)
  // `Date` reads 30 February as 2 March, and 24:00 as the next day.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== wall) return undefined
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * minuteMs
  const utcMs = date.getTime() + (leap ? 1000 : 0) - (sign === '-' ? -offset : offset)
  return utcMs + Number(fraction || 0) * 1000
}
