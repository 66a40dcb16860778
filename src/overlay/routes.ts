import type { Middleware } from 'koa'
import { done, nothing } from '../accounts/schemas.js'
import { ownerErrors, signedIn, whileOpen } from '../accounts/sessions/auth.js'
import { createLiveStreams, type LiveStreams } from '../events/stream.js'
import { StreamHub } from '../events/stream-hub.js'
import { type Route, route, streamRoute } from '../http/endpoint.js'
import type { Pages } from '../http/pages/built-pages.js'
import { plainPage, sendPlainPage } from '../http/pages/plain-page.js'
import { sendPage } from '../http/pages/send-page.js'
import { noStore } from '../http/security/response-headers.js'
import type { HeartbeatWheel } from '../http/sse.js'
import { serviceName } from '../kernel/brand.js'
import { DomainError } from '../kernel/errors.js'
import type { Services } from '../services.js'
import { decideTip, listJudged } from './decide.js'
import { readFigures } from './figures.js'
import { changeSettings, findOverlay, isOverlayToken, readOverlay, renewToken, sendTest } from './overlay.js'
import { addPicture, readPicture } from './pictures.js'
import * as schemas from './schemas.js'
import { endsReading, findOverlayStart, isForReader, overlayStream } from './stream.js'

type Needs = Pick<Services, 'config' | 'db' | 'reads' | 'transact' | 'notifications' | 'log' | 'metrics'>

export interface Overlays {
  readonly routes: readonly Route[]
  close(): Promise<void>
}

/** Overlays: their settings and decisions for the creator, and what the page of an address reads. */
export function createOverlays(services: Needs, wheel: HeartbeatWheel): Overlays {
  const hub = new StreamHub(services, overlayStream)
  const streams = createLiveStreams(services, hub, wheel)
  return {
    routes: [...ownRoutes(services), ...decisionRoutes(services), ...publicRoutes(services, streams)],
    async close() {
      streams.close()
      await hub.close()
    },
  }
}

function ownRoutes(services: Needs): Route[] {
  const present = ({ token, settings }: Awaited<ReturnType<typeof readOverlay>>) => {
    return { overlay: { url: `${services.config.http.publicUrl}/overlay/${token}`, settings } }
  }
  return [
    route(
      {
        method: 'get',
        path: '/creators/overlay',
        summary: 'The own overlay: its address and settings',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.overlayAnswer,
        errors: [],
      },
      async (_, ctx) => present(await readOverlay(services, signedIn(ctx).account.id)),
    ),
    route(
      {
        method: 'patch',
        path: '/creators/overlay',
        summary: 'Change settings of the overlay; open ones show them at once',
        credential: 'session',
        limit: 'intents',
        input: schemas.settingsChange,
        invalid: 'invalid_settings',
        output: schemas.overlayAnswer,
        errors: [...ownerErrors],
      },
      async (change, ctx) => {
        const owner = signedIn(ctx)
        return present(await changeSettings(whileOpen(services, owner), owner.account.id, change))
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/overlay/token',
        summary: 'Give the overlay a new address; the old one ends',
        credential: 'session',
        limit: 'intents',
        input: nothing,
        invalid: 'invalid_json',
        output: schemas.overlayAnswer,
        errors: [...ownerErrors],
      },
      async (_, ctx) => {
        const owner = signedIn(ctx)
        return present(await renewToken(whileOpen(services, owner), owner.account.id))
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/overlay/pictures',
        summary: 'Add a picture for alerts: the body is a PNG, JPEG or WebP picture',
        credential: 'session',
        limit: 'intents',
        picture: schemas.mostPictureBytes,
        input: schemas.pictureInput,
        invalid: 'invalid_picture',
        output: schemas.pictureAnswer,
        errors: [...ownerErrors],
      },
      async ({ picture }, ctx) => {
        const owner = signedIn(ctx)
        return { picture: await addPicture(whileOpen(services, owner), owner.account.id, picture) }
      },
    ),
    route(
      {
        method: 'post',
        path: '/creators/overlay/test',
        summary: 'Show a sample on every open overlay of the own account',
        credential: 'session',
        limit: 'intents',
        input: schemas.testInput,
        invalid: 'invalid_json',
        output: done,
        errors: ['invalid_amount', ...ownerErrors],
      },
      async ({ amountUsd }, ctx) => {
        const owner = signedIn(ctx)
        await sendTest(whileOpen(services, owner), owner.account.id, amountUsd)
      },
    ),
  ]
}

function decisionRoutes(services: Needs): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/creators/overlay/tips',
        summary: 'The tips that wait for an approval, and the newest ones',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: schemas.judgedTipsAnswer,
        errors: [],
      },
      async (_, ctx) => listJudged(services, signedIn(ctx).account.id),
    ),
    route(
      {
        method: 'post',
        path: '/creators/overlay/tips',
        summary: 'Approve a tip, keep it off the overlay, or delete its words everywhere',
        credential: 'session',
        limit: 'intents',
        input: schemas.decisionInput,
        invalid: 'tip_not_found',
        output: schemas.decisionAnswer,
        errors: ['invalid_json', 'invalid_decision', ...ownerErrors],
      },
      async (input, ctx) => {
        const owner = signedIn(ctx)
        return { state: await decideTip(whileOpen(services, owner), owner.account.id, input) }
      },
    ),
  ]
}

/** The token in the address is the credential. A wrong one is answered like a path that does not exist. */
function publicRoutes({ db }: Needs, streams: LiveStreams): Route[] {
  return [
    streamRoute(
      {
        method: 'get',
        path: '/overlay/:token/stream',
        summary: 'What an overlay shows, live: tips, settings, test alerts',
        credential: 'none',
        limit: 'reads',
        input: schemas.tokenInput,
        invalid: 'not_found',
        output: schemas.overlayEvent,
        errors: [],
        stream: true,
      },
      async ({ token }, ctx) => {
        const start = await findOverlayStart(db, token)
        if (start === undefined) throw new DomainError('not_found')
        await streams.serve(ctx, async () => start, { wants: isForReader, ends: endsReading(token) })
      },
      [noStore],
    ),
    route(
      {
        method: 'get',
        path: '/overlay/:token/figures',
        summary: 'What the widgets of an overlay show',
        credential: 'none',
        limit: 'reads',
        input: schemas.tokenInput,
        invalid: 'not_found',
        output: schemas.figuresAnswer,
        errors: [],
      },
      async ({ token }) => {
        const overlay = await findOverlay(db, token)
        if (overlay === undefined) throw new DomainError('not_found')
        return readFigures(db, overlay)
      },
      [noStore],
    ),
  ]
}

const ended = plainPage({
  title: 'This overlay has ended',
  lead: 'Nobody has an overlay at this address. Copy its address from the dashboard again.',
  links: [{ href: '/dashboard/overlay', text: 'Overlay' }],
})

/** `GET /overlay` with the parameters in the query, and `GET /overlay/:token`. The dashboard frames it as a preview. */
export function serveOverlay({ db }: Pick<Services, 'db'>, pages: Pages): Middleware {
  return async (ctx) => {
    const token: string | undefined = ctx['params'].token
    const overlay = token === undefined ? undefined : await findOverlay(db, token)
    if (token !== undefined && overlay === undefined) return sendPlainPage(ctx, ended, 404)
    const theme = overlay?.settings.theme ?? (ctx.query['theme'] === 'light' ? 'light' : 'dark')
    sendPage(ctx, pages, {
      name: 'overlay',
      title: `Overlay · ${serviceName}`,
      theme,
      policy: { frameAncestors: "'self'" },
    })
  }
}

const oneYear = 31_536_000

/** `GET /overlay/:token/pictures/:hash`. */
export function serveOverlayPicture({ db }: Pick<Services, 'db'>): Middleware {
  return async (ctx) => {
    const { token, hash } = ctx['params'] as { readonly token: string; readonly hash: string }
    const picture = isOverlayToken(token) ? await readPicture(db, token, hash) : undefined
    if (picture === undefined) throw new DomainError('not_found')
    ctx.set('Cache-Control', `private, max-age=${oneYear}, immutable`)
    ctx.type = 'image/webp'
    ctx.body = picture
  }
}
