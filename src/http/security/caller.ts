import type { Context } from 'koa'
import { newSecret } from '../../kernel/ids.js'
import { cleanLine } from '../../kernel/text.js'
import { clientNetwork } from '../limits/client-address.js'
import { readBearer, readCookie, readSessionCookie, setCookie } from './credentials.js'

/** The longest lifetime that browsers give a cookie. */
const deviceDays = 400
const userAgentLength = 200
const deviceTokenForm = /^[\w-]{43}$/

/** Who sends a request that opens a session. */
export interface Caller {
  /** The token of the session that the request presents. It ends when another one is opened. */
  readonly presentedToken: string | undefined
  /** The access token that it presents. */
  readonly accessToken: string | undefined
  /** The token of the device cookie; a new one for a browser without. It proves nothing: it only tells devices apart. */
  readonly deviceToken: string
  /** An IPv4 address, an IPv6 /64, or `unknown`. */
  readonly network: string
  readonly userAgent: string | null
}

export function readCaller(ctx: Context, publicUrl: string): Caller {
  const device = readCookie(ctx, publicUrl, 'device')
  const userAgent = cleanLine(ctx.get('User-Agent'), userAgentLength)
  return {
    presentedToken: readSessionCookie(ctx, publicUrl),
    accessToken: readBearer(ctx),
    deviceToken: device !== undefined && deviceTokenForm.test(device) ? device : newSecret(),
    network: clientNetwork(ctx),
    userAgent: userAgent === '' ? null : userAgent,
  }
}

/** Has the browser keep the device's token, beyond the end of the session. */
export function setDeviceCookie(ctx: Context, publicUrl: string, token: string): void {
  setCookie(ctx, publicUrl, { name: 'device', value: token, maxAgeDays: deviceDays })
}
