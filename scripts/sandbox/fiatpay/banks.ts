import { Refusal } from './api.js'

/** Code and name of every bank the provider pays to. Most codes have three digits, those of newer banks more. */
export const banks = [
  ['001', 'Test Bank'],
  ['011', 'First Bank of Nigeria'],
  ['023', 'Citibank Nigeria'],
  ['030', 'Heritage Bank'],
  ['032', 'Union Bank of Nigeria'],
  ['033', 'United Bank For Africa'],
  ['035', 'Wema Bank'],
  ['044', 'Access Bank'],
  ['050', 'Ecobank Nigeria'],
  ['057', 'Zenith Bank'],
  ['058', 'Guaranty Trust Bank'],
  ['063', 'Access Bank (Diamond)'],
  ['068', 'Standard Chartered Bank'],
  ['070', 'Fidelity Bank'],
  ['076', 'Polaris Bank'],
  ['082', 'Keystone Bank'],
  ['100', 'Suntrust Bank'],
  ['101', 'Providus Bank'],
  ['214', 'First City Monument Bank'],
  ['215', 'Unity Bank'],
  ['221', 'Stanbic IBTC Bank'],
  ['232', 'Sterling Bank'],
  ['301', 'Jaiz Bank'],
  ['50211', 'Kuda Bank'],
  ['50457', 'Infinity MFB'],
  ['50515', 'Moniepoint MFB'],
  ['999991', 'PalmPay'],
  ['999992', 'OPay Digital Services Limited (OPay)'],
] as const

const nameOfBank = new Map<string, string>(banks)

/** @throws Refusal for a bank the provider does not know */
export function bankName(code: string): string {
  const name = nameOfBank.get(code)
  if (name === undefined) throw new Refusal('invalid_params', `Unknown bank code: ${code.slice(0, 20)}`)
  return name
}
