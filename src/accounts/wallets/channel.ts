/** The channel on which the arrival of a user's wallet is hinted. */
export const walletChannel = (userId: string): string => `wallets.${userId}`
