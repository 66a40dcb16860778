import type { Config } from '../../../../src/platform/config/config.js'
import type { Check } from './check.js'

/** The guards in force, and what is off: notes, because the API's contract asks for none of them. */
export function checkGuards({ guards, guardTable, chain, http }: Config): readonly Check[] {
  const note = (text: string): Check => ({ name: 'guards', state: 'warning', text })
  const set = Object.entries(guardTable)
  const isOff = ([name, value]: (typeof set)[number]): boolean =>
    value === 'off' || (name === 'CARD_RESERVE_DAYS' && value === 0)
  const off = set.flatMap((one) => {
    const [name, value] = one
    if (isOff(one)) return [name]
    return [...String(value).matchAll(/([\w-]+):off/g)].map(([, limit]) => `${name} ${limit}`)
  })
  const inForce = set.filter((one) => !isOff(one)).map(([name, value]) => `${name}=${value}`)
  return [
    { name: 'guards', state: 'ok', text: `GUARDS=${guards}: ${inForce.join(' ')}` },
    ...off.map((name) => note(`${name} is off`)),
    ...(chain.rpcUrls?.length === 1 && guardTable.AGREE_ABOVE_USD !== 'off'
      ? [note('AGREE_ABOVE_USD needs a second RPC endpoint: credits do not wait')]
      : []),
    ...(http.trustProxy === undefined
      ? [
          note(
            'TRUST_PROXY is not set: behind a proxy nothing is judged by the address of a client, and a restart may drop requests; false says that there is none',
          ),
        ]
      : []),
  ]
}
