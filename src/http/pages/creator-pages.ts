import type { Middleware } from 'koa'
import { serviceName } from '../../kernel/brand.js'
import type { Config } from '../../platform/config/config.js'
import type { Pages } from './built-pages.js'
import { sendPage } from './send-page.js'

/**
 * `GET /dashboard` and its screens: one page, which no site may frame. Its root element has the withdrawal fees and
 * limits, the RPC endpoint to which it submits take-outs, and the mode with the address of the other one, as data attributes.
 */
export function serveDashboard(
  { chain, withdrawals, mode, otherUrl }: Pick<Config, 'chain' | 'withdrawals' | 'mode' | 'otherUrl'>,
  pages: Pages,
): Middleware {
  const { publicRpcUrl } = chain
  const data = {
    mode,
    ...(otherUrl !== undefined && { 'other-url': otherUrl }),
    ...(publicRpcUrl !== undefined && { 'rpc-url': publicRpcUrl }),
    'withdraw-least-fee-ngn': String(withdrawals.leastFeeNgn),
    'withdraw-fee-bps': String(withdrawals.feeBps),
    'withdraw-min-ngn': String(withdrawals.minNgn),
    'identity-single-ngn': String(withdrawals.identitySingleNgn),
    'identity-daily-ngn': String(withdrawals.identityDailyNgn),
  }
  return async (ctx) =>
    sendPage(ctx, pages, {
      name: 'dashboard',
      title: serviceName,
      theme: 'light',
      data,
      policy: {
        frameAncestors: "'none'",
        connect: publicRpcUrl === undefined ? [] : [new URL(publicRpcUrl).origin],
        frames: true,
        forms: true,
        passkeys: true,
      },
    })
}
