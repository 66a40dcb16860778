import { createHash } from 'node:crypto'
import type { Context, Middleware } from 'koa'
import { generate } from 'lean-qr'
import { toPngBuffer } from 'lean-qr/extras/node_export'
import { toSvgSource } from 'lean-qr/extras/svg'
import { LRUCache } from 'lru-cache'
import { rateOfPage } from '../fiat/rate-of-page.js'
import type { Pages } from '../http/pages/built-pages.js'
import { chooseLanguage } from '../http/pages/language.js'
import { sendPage } from '../http/pages/send-page.js'
import { accent } from '../kernel/brand.js'
import { DomainError } from '../kernel/errors.js'
import type { ExchangeRates } from '../market/exchange-rates.js'
import { drawPicture } from '../platform/pictures/draw-picture.js'
import { rpcOrigins } from '../sdk/embed.js'
import { describeCreator } from '../sdk/sessions/describe-session.js'
import type { Services } from '../services.js'
import { findByPageHandle, type PageOwner } from './handle.js'
import { pageUrlOf, payUrlOf, readGoal, readPageContent } from './page.js'
import { readPicture } from './picture.js'
import { sendPicture } from './picture-routes.js'
import { renderPage, type ShownPage } from './render-page.js'
import { readWall } from './wall.js'
import { pageWords } from './words.js'

type Needs = Pick<Services, 'db' | 'config' | 'notifications' | 'names' | 'chain'>

/** Cards kept in memory: each costs a second to draw, and some 40 KB. */
const mostCards = 200
const hashLength = 16

/** `GET /@:handle`: a creator's page. An earlier handle leads to the one now. */
export function servePublicPage(services: Needs, rates: ExchangeRates, pages: Pages): Middleware {
  const { db, config } = services
  const { publicUrl } = config.http
  const connect = rpcOrigins(config)
  return async (ctx) => {
    const owner = await ownerOf(db, ctx)
    if (owner === undefined) return
    if (ctx.path !== `/@${owner.handle}`) {
      ctx.redirect(`/@${owner.handle}${ctx.search}`)
      return
    }
    const [page, session, rate] = await Promise.all([
      readShownPage(db, owner),
      describeCreator(services, owner.userId).catch(unlessPending),
      rateOfPage(config, rates),
    ])
    const language = chooseLanguage(ctx, page.language)
    sendPage(ctx, pages, {
      name: 'checkout',
      title: pageWords[language].title(owner.name),
      language,
      theme: ctx.query['theme'] === 'dark' ? 'dark' : 'light',
      data: {
        page: owner.handle,
        ...(page.currency !== null && { currency: page.currency }),
        // The script need not ask for it, so the form is there a round trip earlier.
        ...(session !== undefined && {
          session: JSON.stringify({ ...session, now: new Date().toISOString() }),
        }),
        ...rate,
      },
      policy: { frameAncestors: "'none'", connect },
      content: renderPage(page, language, publicUrl, session !== undefined),
    })
  }
}

/** The wallet of an account that was just made is not there yet. */
function unlessPending(error: unknown): undefined {
  if (!(error instanceof DomainError) || error.code !== 'creator_wallet_pending') throw error
}

function ownerOf(db: Services['db'], ctx: Context): Promise<PageOwner | undefined> {
  return findByPageHandle(db, String(ctx['params'].handle))
}

async function readShownPage(db: Services['db'], owner: PageOwner): Promise<ShownPage> {
  const content = await readPageContent(db, owner.userId)
  const [goal, supporters] = await Promise.all([
    readGoal(db, owner.userId, content),
    content.wall ? readWall(db, owner.userId) : undefined,
  ])
  return {
    ...content,
    owner,
    goal,
    supporters,
    cardPath: `/@${owner.handle}/og.png?v=${cardHash(owner, content)}`,
  }
}

function cardHash({ name, handle }: PageOwner, content: Pick<ShownPage, 'words' | 'pictureHash'>): string {
  const said = JSON.stringify([name, handle, content.words, content.pictureHash])
  return createHash('sha256').update(said).digest('hex').slice(0, hashLength)
}

/** `GET /@:handle/og.png`: the picture that other sites show beside a link to the page. */
export function serveCard({ db, config }: Pick<Services, 'db' | 'config'>): Middleware {
  const site = new URL(config.http.publicUrl).host
  const cards = new LRUCache<string, Promise<Buffer>>({ max: mostCards })
  async function draw({ userId, name, handle }: PageOwner, words: string | null): Promise<Buffer> {
    const found = await readPicture(db, userId)
    const card = { title: name, lead: words ?? '', address: `${site}/@${handle}`, colour: accent.light }
    return drawPicture(userId, { make: 'card', card }, found?.picture ?? Buffer.alloc(0))
  }
  return async (ctx) => {
    const owner = await ownerOf(db, ctx)
    if (owner === undefined) return
    const content = await readPageContent(db, owner.userId)
    const hash = cardHash(owner, content)
    const drawn = cards.get(hash) ?? draw(owner, content.words)
    cards.set(hash, drawn)
    drawn.catch(() => cards.delete(hash))
    sendPicture(ctx, 'image/png', { picture: await drawn, hash }, ctx.query['v'])
  }
}

/** `GET /@:handle/qr.svg` and `/qr.png`: the page's address, for cameras and for print; `/wallet-qr.svg`: for wallets. */
export function serveQr({ db, config }: Pick<Services, 'db' | 'config'>): Middleware {
  const { publicUrl } = config.http
  return async (ctx) => {
    const owner = await ownerOf(db, ctx)
    if (owner === undefined) return
    const addressOf = ctx.path.endsWith('/wallet-qr.svg') ? payUrlOf : pageUrlOf
    const address = addressOf(publicUrl, owner.handle)
    const code = generate(address)
    const hash = createHash('sha256').update(address).digest('hex').slice(0, hashLength)
    if (ctx.path.endsWith('.svg')) {
      const picture = toSvgSource(code, { on: 'black', off: 'white', pad: 4, xmlDeclaration: true })
      sendPicture(ctx, 'image/svg+xml', { picture, hash })
    } else {
      const picture = Buffer.from(
        toPngBuffer(code, { on: [0, 0, 0], off: [255, 255, 255], pad: 4, scale: 24 }),
      )
      sendPicture(ctx, 'image/png', { picture, hash })
    }
  }
}
