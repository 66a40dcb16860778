import { randomBytes } from 'node:crypto'
import type { Sandbox } from './server.js'

/** The settings with which a whole service finds every stand-in, and a new key for its wallets. */
export function sandboxSettings({ url, fiatpay, mail }: Sandbox, treasury: string): Record<string, string> {
  return {
    SOLANA_RPC_URLS: url,
    PRICE_URL: `${url}/price/v3`,
    TREASURY_WALLET: treasury,
    FIATPAY_URL: `${url}/fiatpay`,
    FIATPAY_SECRET_KEY: fiatpay.secretKey,
    RATE_URL: `${url}/rates/USD`,
    SMTP_URL: mail.url,
    MAIL_FROM: 'Tips <support@tips.example>',
    WALLET_KEK: randomBytes(32).toString('base64'),
  }
}
