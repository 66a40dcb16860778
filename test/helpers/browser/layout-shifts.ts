import type { Page } from 'playwright-core'

/** What moved without a person's doing since the page was opened: the score of each move, and what moved. */
export function layoutShifts(page: Page): Promise<string[]> {
  return page.evaluate(`new Promise((done) => {
    const moves = []
    const name = (node) => node === null ? 'gone' : (node.className || node.nodeName) + ' ' + (node.textContent ?? '').slice(0, 40)
    const add = (entries) => {
      for (const one of entries)
        if (!one.hadRecentInput && one.value >= 0.0001)
          moves.push(one.value.toFixed(4) + ': ' + one.sources.map(({ node }) => name(node)).join(', '))
    }
    const observer = new PerformanceObserver((list) => add(list.getEntries()))
    observer.observe({ type: 'layout-shift', buffered: true })
    requestAnimationFrame(() => requestAnimationFrame(() => { add(observer.takeRecords()); done(moves) }))
  })`)
}
