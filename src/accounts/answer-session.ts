import type { Context } from 'koa'
import type { Config } from '../platform/config/config.js'
import { presentAuth, presentUser } from './present.js'
import { setCookies } from './sessions/routes.js'
import type { AccountSession } from './sessions/session.js'

/** Sets the cookies of a session just opened, and presents its account. */
export function answerSession<View extends 'session' | 'otpVerify'>(
  ctx: Context,
  config: Pick<Config, 'http' | 'sessions'>,
  { account, session }: AccountSession,
  view: View,
) {
  setCookies(ctx, config, session)
  return { user: presentUser(account, view), auth: presentAuth(session) }
}
