/** Symbols of the tokens a creator may take and a tip may be of. */
export const tokens = ['SOL', 'USDC', 'USDT', 'BONK', 'JitoSOL'] as const
