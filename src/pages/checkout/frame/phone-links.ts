import type { Form, PhoneLinks } from '../machine/state.js'
import type { TipService } from '../service.js'
import { carried } from './arrival.js'

/** Links that continue on a phone. They carry codes that live for a minute and work once, never the session's token. */
export async function makePhoneLinks(
  service: TipService,
  form: Form,
  cents: number,
  inputTokenMint: string,
): Promise<PhoneLinks> {
  // Wallets take transaction requests over https alone.
  const secure = location.protocol === 'https:'
  const [code, payCode] = await Promise.all([
    service.handOff(),
    secure ? service.handOff({ amount: cents / 100, inputTokenMint }) : undefined,
  ])
  return {
    browser: `${location.origin}${location.pathname}${location.search}#h=${code}${carried(form, cents, false)}`,
    request: payCode === undefined ? undefined : `solana:${location.origin}/pay/${payCode}`,
  }
}

/** Opens a page in a wallet app's own browser; the app is told where the page came from. */
export function inWalletApp(app: 'phantom' | 'solflare', link: string): string {
  const base = app === 'phantom' ? 'https://phantom.app/ul/browse/' : 'https://solflare.com/ul/v1/browse/'
  return `${base}${encodeURIComponent(link)}?ref=${encodeURIComponent(location.origin)}`
}
