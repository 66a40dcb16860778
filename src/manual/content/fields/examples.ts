// Example values of fields that several resources have.

export const userId = '3f6c1e9a-8d1b-4c58-9f0e-2b7a4d5c6e10'
export const creatorWallet = 'B4D24wiLHUNWzrYt84Z6NmeGofcaAMEsBGWf9zCd71Am'
export const supporterWallet = '37JX7KtEHY3br5XvJXXXTHed26kkQGApKhzt4QcGTw6V'
export const signature =
  'q4gizPsG37A2e828ve7xGvjrPU43kgzuoXh3XZLWu3k1eN7CFoSTumne7hQnawzdnrbFgHmg4QrVtPN7tU6qHif'
export const fiatTip = 'fiatpay_5d0b7f3ac1e94826a07c3d9be6f41258'
export const refundId = 'refund_9c4e1b7a25d84f36b0e7a1c8d3f56042'
export const payoutReference = 'FIATPAY-6E0B8C5D1F2A4B7C9D3E5F60718293A4'
export const bonkMint = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'
export const usdcMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const moment = '2026-11-21T09:30:15.250Z'
