import type { ExecutionContext } from 'ava'
import type { Frame, FrameLocator, Locator, Page } from 'playwright-core'
import { until } from '../until.js'
import type { Visit } from './browser.js'
import { checkAccessibility } from './check-accessibility.js'

/**
 * What a person does and sees on a page. Pages update a moment after an action (announcements, focus), so everything here
 * waits for what it expects.
 */

/** A page, or a frame or an element in it. */
type Place = Page | Frame | FrameLocator | Locator

export const heading = (place: Place, name: string | RegExp) => place.getByRole('heading', { name })

export const clickButton = (place: Place, name: string | RegExp) =>
  place.getByRole('button', { name }).click()

/** Selects a radio button. It dispatches the event: while a frame is growing, a click by position can miss. */
export const chooseRadio = (place: Place, name: string) =>
  place.getByRole('radio', { name, exact: true }).dispatchEvent('click')

/** Waits until the step's heading has the focus. A key pressed earlier would be lost. */
export const waitForHeading = (place: Place, title: string | RegExp) =>
  place.locator(':is(h1, h2):focus', { hasText: title }).waitFor()

/** Presses Tab until a field of this name, or a control of this text, has the focus. */
export async function tabTo(t: ExecutionContext, page: Page, wanted: string | RegExp): Promise<void> {
  for (let steps = 0; steps < 60; steps++) {
    const at = await page.evaluate<string>(
      'document.activeElement.name || document.activeElement.textContent',
    )
    if (typeof wanted === 'string' ? at === wanted : wanted.test(at)) return
    await page.keyboard.press('Tab')
  }
  t.fail(`Tab never reaches ${wanted}`)
}

/** Waits until this text is announced to screen readers (role `status`). */
export const waitForAnnouncement = (place: Place, text: string | RegExp) =>
  place.getByRole('status').filter({ hasText: text }).first().waitFor({ state: 'attached' })

/** Waits until what `read` returns is `expected`, and asserts it. */
export async function assertBecomes(
  t: ExecutionContext,
  read: () => Promise<unknown>,
  expected: string | boolean | null,
): Promise<void> {
  await until(String(expected), async () => (await read()) === expected).catch(() => undefined)
  t.is(await read(), expected)
}

/** Asserts that a screen shows its title and texts, has the focus on its heading and is accessible. Ends the visit. */
export async function assertScreen(
  t: ExecutionContext,
  { page, context, faults }: Visit,
  name: string,
  title: string | RegExp,
  texts: readonly (string | RegExp)[] = [],
): Promise<void> {
  await heading(page, title).waitFor()
  for (const text of texts) await page.getByText(text).first().waitFor()
  await until(`${name} has the focus`, () =>
    page.evaluate<boolean>('document.activeElement.matches("h1, h2")'),
  )
  await checkAccessibility(t, page, name)
  t.deepEqual(faults, [], name)
  await context.close()
}
