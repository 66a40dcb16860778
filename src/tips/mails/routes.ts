import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { ownerGuards, signedIn, whileOpen } from '../../accounts/sessions/auth.js'
import { type Route, route } from '../../http/endpoint.js'
import { plainPage, sendPlainPage } from '../../http/pages/plain-page.js'
import type { Services } from '../../services.js'
import { chooseTipMails, stopByToken, tipMailChoices } from './choose-tip-mails.js'

const tipMails = z.enum(tipMailChoices, 'invalid_tip_mails')

/** `/auth/tip-mails`. It stands here, not with the accounts: it needs the cursors of tips. */
export function tipMailRoutes(services: Pick<Services, 'config' | 'db' | 'transact'>): Route[] {
  return [
    route(
      {
        method: 'put',
        path: '/auth/tip-mails',
        summary: 'Choose the mails about tips',
        credential: 'session',
        limit: 'reads',
        input: z.object({ tipMails }),
        invalid: 'invalid_tip_mails',
        output: z.object({ success: z.literal(true), tipMails }),
        errors: ['unauthorized', 'forbidden', 'account_frozen', 'email_not_verified'],
      },
      async ({ tipMails: choice }, ctx) => {
        await chooseTipMails(whileOpen(services, signedIn(ctx)), signedIn(ctx).account, choice)
        return { tipMails: choice }
      },
      ownerGuards(services),
    ),
  ]
}

const settings = { href: '/dashboard/settings', text: 'Go to the settings' }
const question = plainPage({
  title: 'No more e-mails about tips?',
  lead: 'Tips go on arriving, and the dashboard shows them. E-mails about your security and your withdrawals still come.',
  buttons: [{ text: 'Turn these e-mails off' }],
})
const stopped = plainPage({
  title: 'These e-mails are off.',
  lead: 'No more e-mails about tips come. You can turn them on again in the settings.',
  links: [settings],
})
const gone = plainPage({
  title: 'This link does nothing any more.',
  lead: 'E-mails about tips are off already, or were turned on again since. The settings say which.',
  links: [settings],
})

/** The page of a mail's link. A button, because mail scanners open links. */
export const serveTipMailStop: Middleware = async (ctx) => sendUncached(ctx, question)

/** The page's button, and the one that mail programs show beside the sender (RFC 8058). The body says nothing we need. */
export function takeTipMailStop(services: Pick<Services, 'transact'>): Middleware {
  return async (ctx) => {
    const token = z.uuid().safeParse(ctx['params'].token)
    const done = token.success && (await stopByToken(services, token.data))
    sendUncached(ctx, done ? stopped : gone, done ? 200 : 404)
  }
}

function sendUncached(ctx: Context, document: string, status = 200): void {
  ctx.set('Cache-Control', 'no-store')
  sendPlainPage(ctx, document, status)
}
