import { useEffect, useState } from 'preact/hooks'
import { displayUnits } from '../../lib/money.js'
import { networkFee, openingCost } from '../../lib/rpc.js'
import { fromBase64, messageOf } from '../../lib/solana.js'
import type { Transfer } from './transfer.js'
import { rpcUrl } from './use-submission.js'

const solDecimals = 9

/** What the payout wallet pays for a transaction, in SOL. */
export interface Fee {
  readonly network: string
  /** Once, for opening the wallet's account of the token. Undefined: it has one. */
  readonly opening: string | undefined
}

/** The fee, read from the network. Undefined while it is not known. */
export function useFee({ transaction, wallet, mint }: Transfer): Fee | undefined {
  const [fee, setFee] = useState<Fee>()
  useEffect(() => {
    const url = rpcUrl()
    if (url === undefined || transaction === null) return
    let wanted = true
    Promise.all([networkFee(url, messageOf(fromBase64(transaction))), openingCost(url, wallet, mint)]).then(
      ([network, opening]) => {
        if (wanted && network !== null)
          setFee({ network: inSol(network), opening: opening === 0 ? undefined : inSol(opening) })
      },
      // The wallet shows the fee, too.
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [transaction, wallet, mint])
  return fee
}

function inSol(lamports: number): string {
  return `${displayUnits(String(lamports), solDecimals)} SOL`
}
