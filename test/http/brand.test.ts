import { readFileSync } from 'node:fs'
import test from 'ava'
import { palette } from '../../src/http/pages/palette.js'
import { accent, serviceName } from '../../src/kernel/brand.js'
import { emailLayout } from '../../src/mail/layout.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)
const textOf = async (path: string) =>
  (await requestRaw(world().url, 'GET', path, { accept: 'text/html' })).text

test('pages, e-mails, the manual and the OpenAPI document use one name', async (t) => {
  const titles = new Map([
    ['/', `Tips in crypto and naira · ${serviceName}`],
    ['/nowhere', `Page not found · ${serviceName}`],
    ['/paid', `You can close this tab. · ${serviceName}`],
    ['/dashboard', serviceName],
    ['/overlay', `Overlay · ${serviceName}`],
    ['/docs', `${serviceName}: manual`],
  ])
  for (const [path, title] of titles) t.true((await textOf(path)).includes(`<title>${title}</title>`), path)
  t.true((await textOf('/docs.md')).startsWith(`# ${serviceName}: manual\n`))
  const { info } = JSON.parse(await textOf('/openapi.json'))
  t.deepEqual([info.title, info.contact.name], [`${serviceName} API`, serviceName])
  const mail = emailLayout({ subject: 'x', blocks: ['y'] })
  t.true(mail.text.startsWith(`${serviceName}\n\ny`))
  t.true(mail.html.includes(`>${serviceName}</p>`))
})

test('pages, e-mails, the manual and the icon use one colour', async (t) => {
  const theme = readFileSync('src/pages/ui/theme.css', 'utf8')
  const colours = (css: string) =>
    new Map([...css.matchAll(/(--[\w-]+): (#\w{6});/g)].map(([, name, value]) => [name, value]))
  for (const [from, to] of [
    [palette.split('@media')[0], theme.split(':root[data-theme')[0]],
    [palette.split('@media')[1], theme.split(':root[data-theme')[1]],
  ])
    for (const [name, value] of colours(from ?? '')) t.is(colours(to ?? '').get(name), value, name)
  t.true(palette.includes(`--accent: ${accent.light}`) && palette.includes(`--accent: ${accent.dark}`))
  t.true((await textOf('/pay-icon.svg')).includes(accent.light))
  t.true(emailLayout({ subject: 'x', blocks: [] }).html.includes(accent.light))
  const style = /href="(\/docs\/\S+\.css)"/.exec(await textOf('/docs'))?.[1] ?? ''
  t.true((await textOf(style)).includes(palette))
})
