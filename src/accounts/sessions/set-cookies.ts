import type { Context } from 'koa'
import { setDeviceCookie } from '../../http/security/caller.js'
import { setSessionCookie } from '../../http/security/credentials.js'
import type { Config } from '../../platform/config/config.js'
import type { OpenedSession } from './session.js'

/** Has the browser keep a session that was just opened, and the device it was opened on. */
export function setCookies(
  ctx: Context,
  { http, sessions }: Pick<Config, 'http' | 'sessions'>,
  { sessionToken, deviceToken }: OpenedSession,
): void {
  setSessionCookie(ctx, http.publicUrl, sessionToken, sessions.absoluteDays)
  setDeviceCookie(ctx, http.publicUrl, deviceToken)
}
