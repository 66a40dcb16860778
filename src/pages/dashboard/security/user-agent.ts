/** The first that fits wins: browsers name the ones they are made of, too. */
const programs = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\/|\bOpera Mini\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bCriOS\/|\bChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const systems = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

const longest = 60

/** `Chrome on Android` of a User-Agent; its beginning when it is no browser's; undefined without one. */
export function describeUserAgent(userAgent: string | null): string | undefined {
  if (userAgent === null || userAgent.trim() === '') return undefined
  const nameIn = (names: readonly (readonly [RegExp, string])[]): string | undefined =>
    names.find(([pattern]) => pattern.test(userAgent))?.[1]
  const program = nameIn(programs)
  if (program === undefined) return userAgent.slice(0, longest)
  const system = nameIn(systems)
  return system === undefined ? program : `${program} on ${system}`
}
