/** The channel on which a wallet's readers are told that something was confirmed. */
export const tipChannel = (wallet: string): string => `tips.${wallet}`
