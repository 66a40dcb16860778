/** A bar in fractions (0 to 1) of the chart's width and height. */
export interface Bar {
  readonly x: number
  readonly width: number
  readonly height: number
}

const minShown = 0.01
/** The fraction of a bar's place that stays empty. */
const gapShare = 0.22

/** The top of the scale: the next round number at or above `most` with a round half; 1 when there are no tips. */
export function scaleTop(most: number): number {
  if (!(most > 0)) return 1
  const shown = Math.max(most, minShown)
  const power = 10 ** Math.floor(Math.log10(shown))
  const step = [1, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= shown) ?? 10
  return Number((step * power).toPrecision(1))
}

/** One bar for each value. A value above 0 always has a visible bar. */
export function barsOf(values: readonly number[], top: number): Bar[] {
  const place = 1 / Math.max(values.length, 1)
  return values.map((value, at) => ({
    x: (at + gapShare / 2) * place,
    width: (1 - gapShare) * place,
    height: value > 0 ? Math.max(value / top, 0.015) : 0,
  }))
}
