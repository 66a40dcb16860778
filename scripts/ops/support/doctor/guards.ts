import type { Config } from '../../../../src/platform/config/config.js'
import type { Check } from './check.js'

/** With less a proxy may still send requests to a process whose listener is closed. */
const leastDrainSeconds = 4

/** The guards in force, and what is off: notes, because the API's contract asks for none of them. */
export function checkGuards({ guards, guardTable, chain, http }: Config): readonly Check[] {
  const note = (text: string): Check => ({ name: 'guards', state: 'warning', text })
  const set = Object.entries(guardTable)
  const off = set.flatMap(([name, value]) =>
    value === 'off' || (name === 'CARD_RESERVE_DAYS' && value === 0) ? [name] : [],
  )
  const inForce = set.filter(([name]) => !off.includes(name)).map(([name, value]) => `${name}=${value}`)
  return [
    { name: 'guards', state: 'ok', text: `GUARDS=${guards}: ${inForce.join(' ')}` },
    ...off.map((name) => note(`${name} is off`)),
    ...(chain.rpcUrls?.length === 1 && guardTable.AGREE_ABOVE_USD !== 'off'
      ? [note('AGREE_ABOVE_USD needs a second RPC endpoint: credits do not wait')]
      : []),
    ...(http.drainSeconds < leastDrainSeconds
      ? [
          note(
            `DRAIN_SECONDS=${http.drainSeconds}: behind a proxy a restart may drop requests; the default is safe`,
          ),
        ]
      : []),
    ...(process.env['TRUST_PROXY']?.trim()
      ? []
      : [
          note(
            'TRUST_PROXY is not set: behind a proxy nothing is judged by the address of a client; false says that there is none',
          ),
        ]),
  ]
}
