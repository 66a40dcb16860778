/** A bar as shares of the chart's width and height, 0 to 1. */
export interface Bar {
  readonly x: number
  readonly width: number
  readonly height: number
}

/** Amounts have no smaller unit than a cent. */
const leastShown = 0.01
/** Of a bar's place, the share that stays empty. */
const gapShare = 0.22

/** The top of the scale: the first round number that is no smaller, whose half is round, too; 1 for nothing at all. */
export function scaleTop(most: number): number {
  if (!(most > 0)) return 1
  const shown = Math.max(most, leastShown)
  const power = 10 ** Math.floor(Math.log10(shown))
  const step = [1, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= shown) ?? 10
  return Number((step * power).toPrecision(1))
}

/** A bar for each value, side by side. What is not nothing is never invisible. */
export function barsOf(values: readonly number[], top: number): Bar[] {
  const place = 1 / Math.max(values.length, 1)
  return values.map((value, at) => ({
    x: (at + gapShare / 2) * place,
    width: (1 - gapShare) * place,
    height: value > 0 ? Math.max(value / top, 0.015) : 0,
  }))
}
