/** What people call a bank, by its code: for the search only. A withdrawal names the code. */
const nicknames: Readonly<Record<string, readonly string[]>> = {
  '011': ['FBN', 'FirstBank'],
  '032': ['UBN'],
  '033': ['UBA'],
  '035': ['ALAT'],
  '050': ['ETI'],
  '058': ['GTB', 'GTBank', 'GTCO'],
  '068': ['SCB', 'StanChart'],
  '214': ['FCMB'],
  '221': ['IBTC'],
  '50211': ['KudaBank'],
  '50515': ['Monie Point'],
  '999991': ['Palm Pay'],
  '999992': ['O-Pay', 'O Pay', 'Paycom'],
}

export function nicknamesOf(code: string): readonly string[] {
  return nicknames[code] ?? []
}

/** Whether each word of a search is part of the bank's name, of a nickname, or of the code. */
export function matchesSearch(
  { code, name }: { readonly code: string; readonly name: string },
  search: string,
) {
  const texts = [name, code, ...nicknamesOf(code)].join('\n').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => texts.includes(word))
}
