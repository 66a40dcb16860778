import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import axe from 'axe-core'
import type { Frame, Page } from 'playwright-core'

const folder = 'screenshots'
const narrow = { width: 320, height: 700 }
const zoomed = { width: 640, height: 900 }
const phone = { width: 390, height: 844 }
const serious = ['serious', 'critical']
const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']

/** Shows a page in the other theme, as its embedding page may ask. */
async function wear(frame: Frame, theme: 'dark' | 'light'): Promise<void> {
  await frame.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
}

/** What axe finds wrong with what is shown now. */
async function faultsOf(frame: Frame): Promise<string[]> {
  if (!(await frame.evaluate('"axe" in self'))) await frame.evaluate(axe.source)
  const run = `axe.run(document, { runOnly: ${JSON.stringify(tags)}, resultTypes: ['violations'] })`
  const { violations } = await frame.evaluate<axe.AxeResults>(run)
  return violations
    .filter(({ impact }) => serious.includes(impact ?? ''))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/**
 * Looks at a state as people meet it: readers (axe, both themes), a narrow screen, large type. Leaves a picture of it on a
 * desk in light and on a phone in dark.
 */
export async function inspect(
  t: ExecutionContext,
  page: Page,
  name: string,
  frame: Frame = page.mainFrame(),
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const before = page.viewportSize() ?? phone
  await wear(frame, 'light')
  t.deepEqual(await faultsOf(frame), [], `${name} in light`)
  await page.screenshot({ path: join(folder, `${name}-desktop-light.png`) })
  await wear(frame, 'dark')
  t.deepEqual(await faultsOf(frame), [], `${name} in dark`)
  await page.setViewportSize(phone)
  await page.screenshot({ path: join(folder, `${name}-phone-dark.png`) })
  await page.setViewportSize(narrow)
  t.true(await fits(page.mainFrame()), `${name} fits 320 px`)
  t.true(await fits(frame), `${name} fits 320 px`)
  await page.setViewportSize(zoomed)
  await frame.evaluate('document.documentElement.style.fontSize = "200%"')
  t.true(await fits(frame), `${name} fits with text of 200 %`)
  await frame.evaluate('document.documentElement.style.fontSize = ""')
  await page.setViewportSize(before)
}

/** No scrolling sideways. */
function fits(frame: Frame): Promise<boolean> {
  return frame.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')
}
