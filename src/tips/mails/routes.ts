import { z } from 'zod'
import { ownerGuards, signedIn, whileOpen } from '../../accounts/sessions/auth.js'
import { type Route, route } from '../../http/endpoint.js'
import type { Services } from '../../services.js'
import { chooseTipMails, tipMailChoices } from './choose-tip-mails.js'

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
