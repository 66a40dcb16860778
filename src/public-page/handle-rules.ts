import { serviceName } from '../kernel/brand.js'

const form = /^[a-z0-9_]{3,30}$/

/** Names of this service's own pages and of roles in it. */
const ownWords =
  'about abuse account actions admin administrator api app assets auth billing bot checkout contact creator creators dashboard docs embed help home info legal login logout mail moderator money news null official operator overlay owner page paid pay payment payments payout payouts press privacy refund refunds register root safety sales security service settings signin signup staff status support system team terms tip tips tipping undefined verify wallet webhooks withdraw www'.split(
    ' ',
  )
/** Whom payers trust with money. */
const brands =
  'accessbank backpack binance bitcoin buymeacoffee cashapp cbn coinbase efcc ethereum facebook fcmb firstbank flutterwave google gtbank instagram interswitch kofi kuda mastercard metamask moniepoint monnify opay palmpay patreon paypal paystack phantom piggyvest selar solana solflare stanbic streamelements stripe telegram tether tiktok twitch twitter usdc usdt venmo verve visa wemabank whatsapp youtube zenithbank'.split(
    ' ',
  )

/** How a reader may take a character for another. */
const alike: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'l',
  '2': 'z',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '6': 'b',
  '7': 't',
  '8': 'b',
  '9': 'g',
  i: 'l',
  q: 'g',
  _: '',
}

/** The same text for handles that a reader takes for one another: `paypa1`, `pay_pal` and `paypal`. */
export function skeletonOf(handle: string): string {
  return [...handle]
    .map((character) => alike[character] ?? character)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}

const reserved = new Set([...ownWords, ...brands, serviceName.toLowerCase()].map(skeletonOf))
const reservedParts = new Set(brands.map(skeletonOf))

/** A handle as it is stored: without @, in lower case. Undefined for one that no page can have. */
export function parsePageHandle(text: string): string | undefined {
  const handle = text.trim().replace(/^@/, '').toLowerCase()
  return form.test(handle) ? handle : undefined
}

/** Why nobody may have this handle. Undefined: somebody may. */
export function whyReserved(handle: string): string | undefined {
  const skeleton = skeletonOf(handle)
  if (skeleton === '') return 'must have a letter or a digit'
  const parts = handle.split('_').map(skeletonOf)
  if (reserved.has(skeleton) || parts.some((part) => reservedParts.has(part)))
    return 'is reserved, or looks like a name that is: payers would take it for somebody else'
  return undefined
}
