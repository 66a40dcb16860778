import test from 'ava'
import { useBrowser } from '../helpers/browser/browser.js'
import { openDashboard } from '../helpers/browser/dashboard.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { publicUrl } from '../helpers/servers/world.js'
import { chapterText, fencesOf } from '../manual/fences.js'

/** The recipes of the manual that need no program of one's own. */
const open = useBrowser(test)

const readRecipes = async () =>
  chapterText((await requestRaw(open().world.url, 'GET', '/docs.md')).text, 'Recipes')

test.serial('the tip jar of ten lines has the link, its code, and thanks who tips', async (t) => {
  const { world, browser, site } = open()
  const { session, wallet, user } = await registerCreator(world)
  const handle = 'jar_of_ada'
  await world.request('PATCH', '/creators/page', { session, body: { handle } })
  const [jar = ''] = fencesOf(await readRecipes(), 'html')
  t.true(jar.split('\n').length <= 11, 'with its doctype')
  const page = await browser.newPage()
  t.teardown(() => page.close())
  const stream = page.waitForResponse(/chain\/tips\/stream/)
  await page.goto(site.serve(jar.replaceAll('<handle>', handle).replaceAll('<wallet>', wallet)))
  await stream
  t.is(await page.getByRole('link').getAttribute('href'), `${publicUrl}/@${handle}`)
  t.true(await page.evaluate<boolean>("document.querySelector('img').naturalWidth > 0"), 'the code is drawn')
  const senderName = '<b>Bola</b>'
  const { intentId } = await createFiatIntent(world, { creatorId: user.id, amount: 5, senderName })
  payFiatIntent(world, intentId)
  await settleIntentNow(world, intentId)
  await page.getByText(`Thank you, ${senderName}!`).waitFor()
})

test.serial('the steps for OBS are buttons of the dashboard, in this order', async (t) => {
  const { world } = open()
  const creator = await registerCreator(world)
  const steps = [...(await readRecipes()).matchAll(/^\d\. \*\*(.+)\*\*/gm)].map(([, name = '']) => name)
  t.is(steps.length, 4)
  const { page, context } = await openDashboard(open(), creator.session)
  t.teardown(() => context.close())
  for (const name of steps)
    await page
      .getByRole('link', { name, exact: true })
      .or(page.getByRole('button', { name: new RegExp(`^${name}`) }))
      .first()
      .click()
  await page.getByLabel('From (dollars)').first().waitFor()
})
