import { serviceName } from '../../../kernel/brand.js'

/** To authenticators, the service is the host name of its public URL (WebAuthn: relying party). */
export function relyingParty(publicUrl: string) {
  const { hostname, origin } = new URL(publicUrl)
  return { id: hostname, name: serviceName, origin }
}
