/** The texts of the statement, which is loaded when it is opened. */
export const statementWords = {
  title: (year: string) => `Statement for ${year}`,
  year: 'Year',
  month: 'Month',
  opening: 'Before',
  total: 'Year',
  balance: 'Balance at the end',
  columns: {
    tips: 'Tips',
    nairaTips: 'Naira tips',
    paidNGN: 'Paid in naira',
    platformFeeUSD: 'Fee of naira tips',
    receivedUSDC: 'You received',
    givenBackUSDC: 'Given back',
    takenOutUSDC: 'Taken out',
    otherUSDC: 'Corrections',
    withdrawnUSDC: 'Withdrawn',
    systemFeeNGN: 'Withdrawal fee',
    amountNGN: 'Reached your bank',
  },
  basis: (timeZone: string) =>
    `Months in the time of ${timeZone}. Dollars are USDC, as our books have them: each balance is the one before it, plus what you received, less what left. It has what is pending and on hold, too. Tips that went straight to your own wallet are counted as tips, but aren’t in these dollars.`,
  print: 'Print',
} as const
