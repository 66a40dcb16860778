import type { ExecutionContext } from 'ava'
import type { Frame, FrameLocator, Page } from 'playwright-core'
import { inspect } from '../inspect.js'
import { until } from '../until.js'
import type { Visit } from './browser.js'

/**
 * What a person does on a page and sees of it. A page follows what happened a moment later - a text is read out, a heading
 * takes the focus - so nothing here reads once what may still be on its way.
 */

/** A page, or a frame in it. */
type Place = Page | Frame | FrameLocator

export const heading = (place: Place, name: string | RegExp) => place.getByRole('heading', { name })

export const press = (place: Place, name: string | RegExp) => place.getByRole('button', { name }).click()

/** Chooses one of several. Not by its place on the screen: a frame still growing lets the press land beside it. */
export const choose = (place: Place, name: string) =>
  place.getByRole('radio', { name, exact: true }).dispatchEvent('click')

/** The step stands, and its heading has the focus: a key pressed before that would be lost. */
export const arrived = (place: Place, title: string | RegExp) =>
  place.locator(':is(h1, h2):focus', { hasText: title }).waitFor()

/** People who listen are told this, word for word when it is a pattern from end to end. */
export const announced = (place: Place, text: string | RegExp) =>
  place.getByRole('status').filter({ hasText: text }).first().waitFor({ state: 'attached' })

/** What is found in the page becomes this. */
export async function becomes(
  t: ExecutionContext,
  look: () => Promise<unknown>,
  expected: string | boolean | null,
): Promise<void> {
  await until(String(expected), async () => (await look()) === expected).catch(() => undefined)
  t.is(await look(), expected)
}

/** The state is there, says what it must, has the focus at its heading, and holds for everybody. Ends the visit. */
export async function reached(
  t: ExecutionContext,
  { page, context, faults }: Visit,
  row: string,
  title: string | RegExp,
  said: readonly (string | RegExp)[] = [],
): Promise<void> {
  await heading(page, title).waitFor()
  for (const text of said) await page.getByText(text).first().waitFor()
  await until(`${row} has the focus`, () =>
    page.evaluate<boolean>('document.activeElement.matches("h1, h2")'),
  )
  await inspect(t, page, row)
  t.deepEqual(faults, [], row)
  await context.close()
}
