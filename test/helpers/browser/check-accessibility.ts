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
/** The rules that judge colours. Nothing else differs in the dark. */
const ofColours = ['color-contrast', 'link-in-text-block']

/** Shows the page in a theme, as an embedding page or the system can request. */
async function setTheme(page: Page, frame: Frame, theme: 'dark' | 'light'): Promise<void> {
  await page.emulateMedia({ colorScheme: theme })
  await frame.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
}

/** What runs a script in a document. */
interface Document {
  evaluate<Result>(script: string): Promise<Result>
}

/** The serious and critical violations that axe finds in what is shown now. `runOnly`: tags or rules. */
export async function axeViolations(frame: Document, runOnly: readonly string[] = tags): Promise<string[]> {
  if (!(await frame.evaluate('"axe" in self'))) await frame.evaluate(axe.source)
  const run = `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })`
  const { violations } = await frame.evaluate<axe.AxeResults>(run)
  return violations
    .filter(({ impact }) => serious.includes(impact ?? ''))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/**
 * Checks what a page shows: axe in both themes, a screen of 320 px and text of 200 %. Saves a screenshot of the light
 * desktop and of the dark phone.
 */
export async function checkAccessibility(
  t: ExecutionContext,
  page: Page,
  name: string,
  frame: Frame = page.mainFrame(),
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const before = page.viewportSize() ?? phone
  await setTheme(page, frame, 'light')
  t.deepEqual(await axeViolations(frame), [], `${name} in light`)
  await page.screenshot({ path: join(folder, `${name}-desktop-light.png`) })
  await setTheme(page, frame, 'dark')
  t.deepEqual(await axeViolations(frame, ofColours), [], `${name} in dark`)
  await page.setViewportSize(phone)
  await page.screenshot({ path: join(folder, `${name}-phone-dark.png`) })
  await page.setViewportSize(narrow)
  t.true(await fitsWidth(page.mainFrame()), `${name} fits 320 px`)
  t.true(await fitsWidth(frame), `${name} fits 320 px`)
  await page.setViewportSize(zoomed)
  await frame.evaluate('document.documentElement.style.fontSize = "200%"')
  t.true(await fitsWidth(frame), `${name} fits with text of 200 %`)
  await frame.evaluate('document.documentElement.style.fontSize = ""')
  await page.setViewportSize(before)
}

/** Whether the page fits without horizontal scrolling. */
export function fitsWidth(frame: Document): Promise<boolean> {
  return frame.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')
}

/**
 * Checks a whole screen also on a small phone and a large display: it fits, and its controls are high enough. Saves a picture of
 * each in both themes.
 */
export async function checkScreen(t: ExecutionContext, page: Page, name: string): Promise<void> {
  // What the bar covers is no target.
  await page.evaluate('scrollTo(0, 0)')
  await checkAccessibility(t, page, name)
  const before = page.viewportSize()
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 900 })
    t.true(await fitsWidth(page.mainFrame()), `${name} fits ${width} px`)
    t.deepEqual(await page.evaluate(smallTargets), [], `${name} at ${width} px`)
    for (const theme of ['light', 'dark'] as const) {
      await setTheme(page, page.mainFrame(), theme)
      await page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`), fullPage: true })
    }
  }
  if (before !== null) await page.setViewportSize(before)
}

/** The controls that are shown lower than 44 px; a radio button's or checkbox's label is its target. */
const smallTargets = `[...document.querySelectorAll('button, input, summary')]
  .filter((one) => !one.matches('[type=radio], [type=checkbox]'))
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
  .map((one) => one.outerHTML)`
