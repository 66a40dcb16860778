import test from 'ava'
import { createApiKey } from '../../src/creators/api-keys.js'
import { testNotice } from '../../src/kernel/brand.js'
import { useBrowser } from '../helpers/browser/browser.js'
import { checkAccessibility } from '../helpers/browser/check-accessibility.js'
import { openDashboard } from '../helpers/browser/dashboard.js'
import { registerPerson } from '../helpers/make/creators.js'

const open = useBrowser(test, { env: { MODE: 'test', LIVE_URL: 'https://tips.example' } })

test.serial(
  'the dashboard of a test deployment says so, names test keys as such and links the live one',
  async (t) => {
    const { world } = open()
    const { session, user } = await registerPerson(world)
    const { prefix } = await createApiKey(world.services, user.id, undefined)
    const { page, context, faults } = await openDashboard(open(), session, '/dashboard/developers')
    await page.getByText(`tk_test_${prefix}_…`).waitFor()
    t.true(await page.getByText(testNotice).isVisible())
    const link = page.getByRole('link', { name: 'The live deployment' })
    t.is(await link.getAttribute('href'), 'https://tips.example/dashboard/developers')
    await checkAccessibility(t, page, 'dash-test-mode')
    t.deepEqual(faults, [])
    await context.close()
  },
)
