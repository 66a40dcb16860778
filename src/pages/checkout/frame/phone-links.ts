import type { Form, PhoneLinks } from '../machine/state.js'
import type { TipService } from '../service.js'
import { formFragment } from './start-parameters.js'

/** Makes links that continue on a phone. They carry one-time codes that are valid for a minute, never the session token. */
export async function makePhoneLinks(
  service: TipService,
  form: Form,
  cents: number,
  inputTokenMint: string,
): Promise<PhoneLinks> {
  // Wallets accept transaction requests only over https.
  const secure = location.protocol === 'https:'
  const [code, payCode] = await Promise.all([
    service.handOff(),
    secure ? service.handOff({ amount: cents / 100, inputTokenMint }) : undefined,
  ])
  return {
    browser: `${location.origin}${location.pathname}${location.search}#h=${code}${formFragment(form, cents, false)}`,
    request: payCode === undefined ? undefined : `solana:${location.origin}/pay/${payCode}`,
  }
}

/** A link that opens the page in the wallet app's browser. */
export function inWalletApp(app: 'phantom' | 'solflare', link: string): string {
  const base = app === 'phantom' ? 'https://phantom.app/ul/browse/' : 'https://solflare.com/ul/v1/browse/'
  return `${base}${encodeURIComponent(link)}?ref=${encodeURIComponent(location.origin)}`
}
