import { done, nothing } from '../accounts/schemas.js'
import { ownerErrors, publicGuards, signedIn, userOf, whileOpen } from '../accounts/sessions/auth.js'
import { type Route, route } from '../http/endpoint.js'
import type { Services } from '../services.js'
import { parsePageHandle } from './handle-rules.js'
import { openPageSession } from './open-session.js'
import { changePage, readOwnPage } from './page.js'
import { changePicture, removePicture } from './picture.js'
import { mostPictureBytes, openAnswer, openInput, pageAnswer, pageChange, pictureInput } from './schemas.js'

type Needs = Pick<Services, 'config' | 'db' | 'transact'>

/** The creator's own page, and the sessions of its visitors. app.ts applies the session guard of `/creators` before routing. */
export function publicPageRoutes(services: Needs): Route[] {
  return [
    route(
      {
        method: 'post',
        path: '/page/:handle/session',
        summary: 'Open a session for a visitor of a creator’s public page',
        credential: 'none',
        limit: {
          name: 'pageSessions',
          address: 'intents',
          key: ({ handle }) => parsePageHandle(handle) ?? '',
        },
        input: openInput,
        invalid: 'page_not_found',
        output: openAnswer,
        errors: ['forbidden'],
      },
      ({ handle }) => openPageSession(services, handle),
      publicGuards(services.config.http.publicUrl),
    ),
    route(
      {
        method: 'get',
        path: '/creators/page',
        summary: 'The own public page: handle, words, links, goal, and what it shows',
        credential: 'session',
        limit: 'reads',
        input: nothing,
        invalid: 'unauthorized',
        output: pageAnswer,
        errors: [],
      },
      (_, ctx) => readOwnPage(services, userOf(ctx)),
    ),
    route(
      {
        method: 'patch',
        path: '/creators/page',
        summary: 'Change the given parts of the own public page',
        credential: 'session',
        limit: 'intents',
        input: pageChange,
        invalid: 'invalid_json',
        output: pageAnswer,
        errors: ['invalid_handle', 'invalid_page', ...ownerErrors],
      },
      async (change, ctx) => {
        await changePage(whileOpen(services, signedIn(ctx)), userOf(ctx), change)
        return readOwnPage(services, userOf(ctx))
      },
    ),
    route(
      {
        method: 'put',
        path: '/creators/page/picture',
        summary: 'Set the picture of the own public page: the body is a PNG, JPEG or WebP picture',
        credential: 'session',
        limit: 'intents',
        picture: mostPictureBytes,
        input: pictureInput,
        invalid: 'invalid_picture',
        output: pageAnswer,
        errors: [...ownerErrors],
      },
      async ({ picture }, ctx) => {
        await changePicture(whileOpen(services, signedIn(ctx)), userOf(ctx), picture)
        return readOwnPage(services, userOf(ctx))
      },
    ),
    route(
      {
        method: 'delete',
        path: '/creators/page/picture',
        summary: 'Remove the picture of the own public page',
        credential: 'session',
        limit: 'intents',
        input: nothing,
        invalid: 'invalid_json',
        output: done,
        errors: [...ownerErrors],
      },
      async (_, ctx) => {
        await removePicture(whileOpen(services, signedIn(ctx)), userOf(ctx))
        return {}
      },
    ),
  ]
}
